import type { Step } from '../engine/trace.ts';
import type { Run, Violation } from '../world/run.ts';
import { changeText } from './change-text.ts';
import { drawStep } from './draw-step.ts';
import { flights } from './flight.ts';
import { fold, isGap, type Gap } from './fold.ts';
import { lifelines, type Lanes } from './lanes.ts';
import { Line } from './line.ts';
import { layOut, type Page } from './page.ts';
import { plainPalette, type Palette, type Style } from './palette.ts';
import { virtualTime } from './virtual-time.ts';
import { visible } from './visible.ts';
import { wrap } from './wrap.ts';

export interface ColumnsOptions {
  /** Cells in a line. Kept to down to about 60; below that the diagram is wider than asked. */
  width: number;
  /** Colours; none by default. */
  palette?: Palette;
  /** Draws every step of a long trace; otherwise stretches that changed nothing are folded away. */
  full?: boolean;
}

/** A change is not squeezed into less than this. */
const NARROWEST_CHANGE = 20;

/**
 * Draws a run as a person reads a race: the actors side by side with their lifelines, virtual time at the
 * left, one line a step, messages as arrows from the lane they left to the lane they arrived in, and row
 * changes at the right, beside the step that committed them (below it where the width does not allow that).
 *
 * A dashed arrow is a message that others overtook: it says at which step it left, and that step says where
 * it arrives (`⇢ 10`). A fault carries `↯` and its name, a crash `✖`, and a violating step `✗`, with the
 * invariant and its sentence in the line below.
 *
 * Gives lines joined by line breaks, none at the end: the same text for the same run and options.
 */
export function columns(run: Run, options: ColumnsOptions): string {
  const items = options.full === true ? run.steps : fold(run);
  const steps = items.filter((item): item is Step => !isGap(item));
  const flightOf = flights(run.steps);
  const page = layOut(run, steps, flightOf, options.width);
  const rows: Row[] = [];
  let before: Step | null = null;
  for (const item of items) {
    if (isGap(item)) {
      rows.push({ lines: gapLines(item, page.lanes), gutter: { mark: '⋮' } });
      continue;
    }
    if (item.phase === 'liveness' && before?.phase !== 'liveness') {
      rows.push({ banner: [dividerLine(page)] });
    }
    const violations = run.violations.filter(({ step }) => step === item.index);
    const style = violations.length > 0 ? 'bad' : item.fault === null ? 'plain' : 'fault';
    rows.push({
      lines: drawStep(item, flightOf(item), page.lanes, style),
      gutter: {
        mark: violations.length > 0 ? '✗' : '',
        number: item.index,
        time: item.timeMs === before?.timeMs ? '' : virtualTime(item.timeMs),
      },
      at: page.lanes.at.get(visible(item.actor)) ?? 0,
      changes: item.changes.map(changeText),
      changeStyle: style === 'bad' ? 'bad' : 'change',
    });
    rows.push(...violations.map((violation) => ({ banner: violationLines(violation, page) })));
    before = item;
  }
  const extent = Math.max(
    page.extent,
    ...rows.flatMap((row) => row.lines ?? []).map((line) => line.width),
  );
  const lines = [
    header(page, extent),
    ...rows.flatMap((row) => row.banner ?? complete(row, page, extent)),
  ];
  return lines.map((line) => line.render(options.palette ?? plainPalette)).join('\n');
}

/** A part of the drawing before the columns at its left and right are put to it. */
interface Row {
  lines?: Line[];
  gutter?: { mark: string; number?: number; time?: string };
  /** The lane of the actor whose changes these are. */
  at?: number;
  changes?: string[];
  changeStyle?: Style;
  /** Lines over the whole width, with nothing at either side. */
  banner?: Line[];
}

function header(page: Page, extent: number): Line {
  const line = new Line()
    .put(2 + page.numberCells - 1, '#', 'faint')
    .put(page.left - 3 - 'time'.length, 'time', 'faint');
  for (const [name, at] of page.lanes.at) line.put(page.left + at, name, 'heading');
  return page.beside ? line.put(page.left + extent + 2, 'rows', 'heading') : line;
}

/** Puts number and time at the left of a row's lines, and its changes at the right or below. */
function complete(row: Row, page: Page, extent: number): Line[] {
  const lines = page.beside ? changesBeside(row, extent + 2, page) : changesBelow(row, page);
  return lines.map((line, index) => {
    const whole = new Line().append(page.left, line);
    if (index > 0 || row.gutter === undefined) return whole;
    const { mark, number, time } = row.gutter;
    return whole
      .put(0, mark, mark === '✗' ? 'bad' : 'faint')
      .put(2, String(number ?? '').padStart(page.numberCells), mark === '✗' ? 'bad' : 'faint')
      .put(page.left - 3 - page.timeCells, (time ?? '').padStart(page.timeCells), 'faint');
  });
}

function changesBeside(row: Row, at: number, page: Page): Line[] {
  const room = Math.max(page.width - page.left - at, NARROWEST_CHANGE);
  const texts = (row.changes ?? []).flatMap((change) => wrap(change, room));
  const lines = [...(row.lines ?? [])];
  while (lines.length < texts.length) lines.push(lifelines(page.lanes));
  // An arrow may have its text above it; the change is the arrow's, and the arrow comes last.
  const first = lines.length - Math.max(texts.length, 1);
  for (const [index, text] of texts.entries()) lines[first + index]?.put(at, text, row.changeStyle);
  return lines;
}

function changesBelow(row: Row, page: Page): Line[] {
  const widest = page.width - page.left - ' └  '.length;
  const at = Math.max(Math.min((row.at ?? 0) + 1, widest - NARROWEST_CHANGE), 0);
  const room = Math.max(widest - at, NARROWEST_CHANGE);
  const texts = (row.changes ?? []).flatMap((change) =>
    wrap(change, room).map((text, index) => ` ${index === 0 ? '└' : ' '} ${text} `),
  );
  const below = texts.map((text) => lifelines(page.lanes).put(at, text, row.changeStyle));
  return [...(row.lines ?? []), ...below];
}

function gapLines(gap: Gap, lanes: Lanes): Line[] {
  return wrap(visible(gap.text), lanes.width - 3).map((text) =>
    lifelines(lanes, '┊').put(1, ` ${text} `, 'faint'),
  );
}

function dividerLine(page: Page): Line {
  const text = '── from here on no faults, and all must converge ';
  const end = Math.max(...page.lanes.at.values(), 0) + 1;
  return new Line().put(page.left, text.padEnd(end, '─'), 'faint');
}

function violationLines(violation: Violation, page: Page): Line[] {
  const text = `${violation.invariant}: ${visible(violation.message)}`;
  return wrap(text, Math.max(page.width - page.left, 40)).map((line, index) =>
    new Line().put(page.left - 2, index === 0 ? '✗' : '', 'bad').put(page.left, line, 'bad'),
  );
}
