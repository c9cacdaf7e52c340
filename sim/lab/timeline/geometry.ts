import { changeText, flights, virtualTime, type Run, type Step } from '../../index.ts';

/** Where everything in a timeline is, in pixels. */
export interface Geometry {
  width: number;
  height: number;
  lanes: Lane[];
  rows: TimelineRow[];
  /** Where texts begin. */
  textX: number;
  /** Where faults stop and all must converge; null if the trace ends before. */
  calmY: number | null;
}

export interface Lane {
  name: string;
  shown: string;
  isHigh: boolean;
  x: number;
}

export interface TimelineRow {
  step: Step;
  y: number;
  height: number;
  /** The height of its mark and of its first line. */
  markY: number;
  /** Virtual time, where it has moved. */
  time: string | null;
  mark: 'event' | 'timer' | 'crash' | 'start' | 'none';
  laneX: number;
  arrow: Arrow | null;
  /** For SQL: the way from the actor to the database, and what it is there. */
  database: { x: number; isTransaction: boolean; changed: boolean } | null;
  lines: Line[];
  isViolating: boolean;
}

export interface Arrow {
  x1: number;
  y1: number;
  x2: number;
  y2: number;
  /** Others overtook it on its way. */
  late: boolean;
  lost: boolean;
}

export interface Line {
  text: string;
  kind: 'text' | 'fault' | 'change' | 'violation';
}

export type Measure = (text: string, isBold: boolean) => number;

export const LINE_HEIGHT = 18;
export const HEADER_HEIGHT = 40;
const ROW_PADDING = 8;
const GUTTER = 48;
/** The name of the lane that no trace has: SQL is drawn as what goes on between its actor and the database. */
const DATABASE = 'database';
/** Outside on the left, our processes in the middle, the database on the right: no arrow crosses its own kind. */
const ORDER = ['adversary', 'Sume', 'submit', 'web', 'poller', 'sweeper', DATABASE];

/**
 * Lays a trace out: a row for each step, a lane for each actor, the words to the right of all lanes so that
 * nothing ever covers them. A message leaves at the height of the step that sent it and arrives at its own.
 *
 * @param measure gives a text's width in pixels, thin or bold.
 */
export function layOut(run: Run, width: number, measure: Measure): Geometry {
  const flightOf = flights(run.steps);
  const lanes = placeLanes(run, width, measure);
  const xOf = new Map(lanes.map(({ name, x }) => [name, x]));
  const textX = (lanes.at(-1)?.x ?? GUTTER) + 24;
  const room = Math.max(width - textX - 12, 96);
  const heightOf = new Map<string, number>();
  const lastOfTask = new Map<string, { label: string; actor: string }>();
  const rows: TimelineRow[] = [];
  let y = 4;
  let timeMs = -1;
  let calmY: number | null = null;
  for (const step of run.steps) {
    if (step.phase === 'liveness' && calmY === null) {
      calmY = y;
      y += 30;
    }
    const violations = run.violations.filter((violation) => violation.step === step.index);
    const lines = linesOf(step, violations, (text, isBold) =>
      wrap(text, room, (piece) => measure(piece, isBold)),
    );
    const markY = y + ROW_PADDING + LINE_HEIGHT / 2;
    const height = lines.length * LINE_HEIGHT + 2 * ROW_PADDING;
    const { ends, lost, leftAt } = flightOf(step);
    const before = lastOfTask.get(step.task);
    const left = step.sentBy ?? (before?.actor === step.actor ? before.label : undefined);
    const leftY = left === undefined ? undefined : heightOf.get(left);
    const isSql = step.kind === 'statement' || step.kind === 'transaction';
    rows.push({
      step,
      y,
      height,
      markY,
      time: step.timeMs === timeMs ? null : virtualTime(step.timeMs),
      mark: markOf(step),
      laneX: xOf.get(step.actor) ?? GUTTER,
      arrow:
        ends === null
          ? null
          : {
              x1: xOf.get(ends.from) ?? GUTTER,
              y1: leftY ?? markY - LINE_HEIGHT / 2,
              x2: xOf.get(ends.to) ?? GUTTER,
              y2: markY,
              late: leftAt !== null,
              lost,
            },
      database: isSql
        ? {
            x: xOf.get(DATABASE) ?? GUTTER,
            isTransaction: step.kind === 'transaction',
            changed: step.changes.length > 0,
          }
        : null,
      lines,
      isViolating: violations.length > 0,
    });
    heightOf.set(step.label, markY);
    lastOfTask.set(step.task, { label: step.label, actor: step.actor });
    timeMs = step.timeMs;
    y += height;
  }
  return { width, height: y + 8, lanes, rows, textX, calmY };
}

function placeLanes(run: Run, width: number, measure: Measure): Lane[] {
  const used = new Set(
    run.steps.flatMap(({ actor, to }) => (to === undefined ? [actor] : [actor, to])),
  );
  used.add(DATABASE);
  const names = [...ORDER.filter((name) => used.delete(name)), ...used];
  const share = width < PHONE_WIDTH ? 0.4 : 0.48;
  const gap = Math.min(Math.max((width * share) / names.length, NARROWEST_GAP), WIDEST_GAP);
  const fit = (shown: string[]): boolean =>
    shown.every(
      (name, index) =>
        index === 0 ||
        (measure(name, true) + measure(shown[index - 1] ?? '', true)) / 2 + BETWEEN_NAMES <= gap,
    );
  const isTight = !fit(names);
  const shown = isTight ? names.map((name) => SHORT[name] ?? name) : names;
  const isStaggered = !fit(shown);
  return names.map((name, index) => ({
    name,
    shown: shown[index] ?? name,
    // Where not even short names fit beside each other, every other one stands higher.
    isHigh: isStaggered && index % 2 === 1,
    x: GUTTER + gap * (index + (isTight ? 0.3 : 0.5)),
  }));
}

const PHONE_WIDTH = 480;
const NARROWEST_GAP = 24;
const WIDEST_GAP = 84;
/** Less looks like one name. */
const BETWEEN_NAMES = 6;

const SHORT: Readonly<Record<string, string>> = {
  adversary: 'advers.',
  sweeper: 'sweep',
  database: 'db',
};

function markOf({ kind }: Step): TimelineRow['mark'] {
  return kind === 'event' || kind === 'timer' || kind === 'crash' || kind === 'start'
    ? kind
    : 'none';
}

function linesOf(
  step: Step,
  violations: Run['violations'],
  wrapped: (text: string, isBold: boolean) => string[],
): Line[] {
  const fault = step.fault === null || step.kind === 'crash' ? '' : `↯ ${step.fault}: `;
  const as = (kind: Line['kind'], text: string): Line[] =>
    wrapped(text, kind === 'change' || kind === 'violation').map((line) => ({ text: line, kind }));
  return [
    ...as(step.fault === null ? 'text' : 'fault', fault + step.text),
    ...step.changes.flatMap((change) => as('change', `■ ${changeText(change)}`)),
    ...violations.flatMap(({ message }) => as('violation', `✗ ${message}`)),
  ];
}

/** Breaks a text between words; a word that is too long alone is broken anywhere. */
function wrap(text: string, room: number, measure: (text: string) => number): string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    const longer = line === '' ? word : `${line} ${word}`;
    if (measure(longer) <= room) {
      line = longer;
      continue;
    }
    if (line !== '') lines.push(line);
    line = word;
    while (measure(line) > room && line.length > 1) {
      let cut = line.length - 1;
      while (cut > 1 && measure(line.slice(0, cut)) > room) cut -= 1;
      lines.push(line.slice(0, cut));
      line = line.slice(cut);
    }
  }
  lines.push(line);
  return lines;
}
