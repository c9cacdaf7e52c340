import { effect, type ReadonlySignal } from '@preact/signals';
import type { JSX } from 'preact';
import { memo } from 'preact/compat';
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { Run } from '../../index.ts';
import { afterPainting } from '../page/pace.ts';
import { HEADER_HEIGHT, LINE_HEIGHT, layOut, type Geometry, type TimelineRow } from './geometry.ts';
import { textWidth } from './text-width.ts';

/** Rows mounted at once; the rest of a long trace follows in pieces, so that the page never stands still. */
const CHUNK = 120;

/**
 * A trace, one row a step. No row renders again when another step is chosen: the cursor is a mark of its own,
 * which is moved.
 */
export function Timeline({
  run,
  step,
  onChoose,
  onMove,
  name,
}: {
  run: Run;
  step: ReadonlySignal<number>;
  onChoose: (step: number) => void;
  /** A row was dragged past its neighbour, up (−1) or down (1). */
  onMove?: (step: number, by: -1 | 1) => void;
  name: string;
}): JSX.Element {
  const frame = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState(0);
  useLayoutEffect(() => {
    const element = frame.current;
    if (element === null) return undefined;
    setWidth(element.clientWidth);
    const observer = new ResizeObserver(() => setWidth(element.clientWidth));
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  const geometry = useMemo(
    () => (width === 0 ? null : layOut(run, width, textWidth)),
    [run, width],
  );
  return (
    <div class="timeline" ref={frame} role="listbox" tabIndex={0} aria-label={name}>
      {geometry !== null && (
        <Drawing
          geometry={geometry}
          run={run}
          step={step}
          onChoose={onChoose}
          {...(onMove === undefined ? {} : { onMove })}
          name={name}
        />
      )}
    </div>
  );
}

function Drawing({
  geometry,
  run,
  step,
  onChoose,
  onMove,
  name,
}: Parameters<typeof Timeline>[0] & { geometry: Geometry }): JSX.Element {
  const { width, height, lanes, rows, calmY } = geometry;
  const drawing = useRef<SVGSVGElement>(null);
  const cursor = useRef<HTMLDivElement>(null);
  const veil = useRef<HTMLDivElement>(null);
  const [mounted, setMounted] = useState(CHUNK);
  useEffect(() => {
    if (mounted >= rows.length) return undefined;
    return afterPainting(() => setMounted(mounted + CHUNK));
  }, [mounted, rows.length]);

  // The chosen step, without any rendering, and without the drawing being laid out again: cursor and veil are
  // boxes of their own. What is read is read before anything is written.
  useLayoutEffect(() => {
    let before: Element | null = null;
    return effect(() => {
      const svg = drawing.current;
      if (svg === null || cursor.current === null || veil.current === null) return;
      const row = rows[step.value - 1];
      const frame = svg.closest('.timeline');
      const top = row?.y ?? 0;
      const bottom = row === undefined ? 0 : row.y + row.height;
      const scrollTop = frame === null ? null : revealing(frame, top, bottom);
      cursor.current.style.transform = `translateY(${top + 1}px)`;
      cursor.current.style.height = `${Math.max(bottom - top - 2, 0)}px`;
      veil.current.style.transform = `translateY(${bottom}px)`;
      before?.setAttribute('aria-selected', 'false');
      before = row === undefined ? null : svg.querySelector(`#${idOf(name, row.step.index)}`);
      before?.setAttribute('aria-selected', 'true');
      if (row === undefined) frame?.removeAttribute('aria-activedescendant');
      else frame?.setAttribute('aria-activedescendant', idOf(name, row.step.index));
      if (frame !== null && scrollTop !== null) frame.scrollTop = scrollTop;
    });
  }, [geometry, mounted, step, name]);

  const rowOf = (event: { target: EventTarget | null }): number => {
    const found = (event.target as Element | null)?.closest('[data-step]');
    return Number(found?.getAttribute('data-step') ?? 0);
  };
  const dragged = useRef<{ step: number; y: number } | null>(null);
  return (
    <>
      <div class="lane-names" aria-hidden="true">
        {lanes.map((lane) => (
          <span
            key={lane.name}
            style={{ left: `${lane.x}px` }}
            class={`${laneClass(lane.name)}${lane.isHigh ? ' high' : ''}`}
          >
            {lane.shown}
          </span>
        ))}
      </div>
      <div class="drawing-place" style={{ height: `${height}px` }}>
        <div class="cursor" ref={cursor} />
        <svg
          ref={drawing}
          class="drawing"
          width={width}
          height={height}
          viewBox={`0 0 ${width} ${height}`}
          role="presentation"
          onClick={(event) => {
            const chosen = rowOf(event);
            if (chosen > 0) onChoose(chosen);
          }}
          onPointerDown={(event) => {
            dragged.current =
              event.altKey || event.pointerType === 'mouse'
                ? { step: rowOf(event), y: event.clientY }
                : null;
          }}
          onPointerUp={(event) => {
            const from = dragged.current;
            dragged.current = null;
            if (from === null || from.step === 0 || onMove === undefined) return;
            const by = event.clientY - from.y;
            if (Math.abs(by) > 2 * LINE_HEIGHT) onMove(from.step, by < 0 ? -1 : 1);
          }}
        >
          {lanes.map((lane) => (
            <line
              key={lane.name}
              class={`lifeline ${laneClass(lane.name)}`}
              x1={lane.x}
              x2={lane.x}
              y1={0}
              y2={height}
            />
          ))}
          {calmY !== null && (
            <g aria-hidden="true">
              <line class="calm" x1={8} x2={width - 8} y1={calmY + 15} y2={calmY + 15} />
              <text class="calm-text" x={geometry.textX} y={calmY + 19}>
                {width - geometry.textX < 290
                  ? 'no faults from here on'
                  : 'from here on no faults, and all must converge'}
              </text>
            </g>
          )}
          {rows.slice(0, mounted).map((row) => (
            <Row key={`${run.token} ${row.step.index}`} row={row} geometry={geometry} name={name} />
          ))}
        </svg>
        <div class="later" ref={veil} />
      </div>
    </>
  );
}

const Row = memo(function Row({
  row,
  geometry,
  name,
}: {
  row: TimelineRow;
  geometry: Geometry;
  name: string;
}): JSX.Element {
  const { step, y, height, markY, arrow, database, laneX, lines } = row;
  return (
    <g
      id={idOf(name, step.index)}
      class={`row${row.isViolating ? ' violating' : ''}${step.fault === null ? '' : ' faulty'}`}
      data-step={step.index}
      role="option"
      aria-selected="false"
      aria-label={`Step ${step.index}, ${step.actor}: ${lines.map(({ text }) => text).join(' ')}`}
    >
      <rect class="hit" x={0} y={y} width={geometry.width} height={height} />
      {row.isViolating && (
        <rect class="alarm" x={2} y={y + 1} width={4} height={height - 2} rx={2} />
      )}
      <text class="number" x={28} y={markY + 4}>
        {step.index}
      </text>
      {row.time !== null && (
        <text class="time" x={10} y={markY + 17}>
          {row.time}
        </text>
      )}
      {arrow !== null && <MessageArrow {...arrow} />}
      {database !== null && (
        <>
          <line class="sql" x1={laneX} x2={database.x} y1={markY} y2={markY} />
          <circle class="mark" cx={laneX} cy={markY} r={3.5} />
          <rect
            class={`store${database.changed ? ' changed' : ''}`}
            x={database.x - (database.isTransaction ? 7 : 4)}
            y={markY - (database.isTransaction ? 7 : 4)}
            width={database.isTransaction ? 14 : 8}
            height={database.isTransaction ? 14 : 8}
            rx={database.isTransaction ? 4 : 1}
          />
        </>
      )}
      {row.mark !== 'none' && <Mark kind={row.mark} x={laneX} y={markY} />}
      {lines.map(({ text, kind }, index) => (
        <text
          key={index}
          class={`words ${kind}`}
          x={geometry.textX}
          y={markY + 4.5 + index * LINE_HEIGHT}
        >
          {text}
        </text>
      ))}
    </g>
  );
});

function MessageArrow({
  x1,
  y1,
  x2,
  y2,
  late,
  lost,
}: NonNullable<TimelineRow['arrow']>): JSX.Element {
  const end = lost ? 0.6 : 1;
  const toX = x1 + (x2 - x1) * end;
  const toY = y1 + (y2 - y1) * end;
  const angle = (Math.atan2(y2 - y1, x2 - x1) * 180) / Math.PI;
  return (
    <g class={`message${late ? ' late' : ''}${lost ? ' lost' : ''}`}>
      <line x1={x1} y1={y1} x2={toX} y2={toY} />
      <circle class="departure" cx={x1} cy={y1} r={2.5} />
      <path
        class="head"
        d={lost ? 'M-5 -5L5 5M-5 5L5 -5' : 'M-8 -4L0 0L-8 4Z'}
        transform={`translate(${toX} ${toY}) rotate(${lost ? 0 : angle})`}
      />
    </g>
  );
}

function Mark({
  kind,
  x,
  y,
}: {
  kind: Exclude<TimelineRow['mark'], 'none'>;
  x: number;
  y: number;
}): JSX.Element {
  const shapes = {
    event: <path d="M0 -6L6 0L0 6L-6 0Z" />,
    timer: (
      <>
        <circle r={6} />
        <path class="hand" d="M0 -4V0L3 2" />
      </>
    ),
    crash: <path class="cross" d="M-5 -5L5 5M-5 5L5 -5" />,
    start: <circle r={4} />,
  };
  return (
    <g class={`mark ${kind}`} transform={`translate(${x} ${y})`}>
      {shapes[kind]}
    </g>
  );
}

function laneClass(name: string): string {
  if (name === 'Sume' || name === 'adversary' || name === 'database') return `lane-${name}`;
  return 'lane-process';
}

function idOf(name: string, step: number): string {
  return `${name.replace(/[^a-z0-9]+/gi, '-')}-${step}`;
}

/** How far to scroll, as little as brings the row into view, below the lanes' names; null where it is in view. */
function revealing(frame: Element, top: number, bottom: number): number | null {
  const { scrollTop, clientHeight, scrollHeight } = frame;
  if (scrollHeight <= clientHeight) return null;
  const room = clientHeight - HEADER_HEIGHT;
  if (top - MARGIN < scrollTop) return Math.max(top - MARGIN, 0);
  return bottom + MARGIN > scrollTop + room ? bottom + MARGIN - room : null;
}

const MARGIN = 12;
