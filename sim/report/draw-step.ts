import stringWidth from 'string-width';
import type { Step } from '../engine/trace.ts';
import { arrivals, type Flight } from './flight.ts';
import { ARROW_CELLS, lifelines, type Lanes } from './lanes.ts';
import type { Line } from './line.ts';
import type { Style } from './palette.ts';
import { visible } from './visible.ts';
import { wrap } from './wrap.ts';

const MARKS: Partial<Record<Step['kind'], string>> = {
  event: '◆',
  timer: '◷',
  crash: '✖',
  start: '○',
};

/** Text is not squeezed into less than this; it rather crosses the right edge. */
const NARROWEST_TEXT = 16;

/** A step's words as the diagram shows them: its fault first, an overtaken message's departure last. */
export function stepText(step: Step, flight: Flight): string {
  const late = flight.leftAt === null ? '' : ` (left at ${flight.leftAt})`;
  const fault = step.fault === null || step.kind === 'crash' ? '' : `↯ ${visible(step.fault)}: `;
  return fault + visible(step.text) + late;
}

/** Draws a step onto the lifelines: one line where its text fits, more where it has to be wrapped. */
export function drawStep(step: Step, flight: Flight, lanes: Lanes, style: Style): Line[] {
  const text = stepText(step, flight);
  if (flight.ends === null) {
    const at = lanes.at.get(visible(step.actor)) ?? 0;
    return drawMoment(MARKS[step.kind] ?? '●', text + arrivals(flight), at, lanes, style);
  }
  const from = lanes.at.get(visible(flight.ends.from)) ?? 0;
  const to = lanes.at.get(visible(flight.ends.to)) ?? from;
  const lines = drawArrow(text, from, to, flight, lanes, style);
  const arrow = lines.at(-1);
  arrow?.put(arrow.width, arrivals(flight), 'faint');
  return lines;
}

/** A message: its text within the arrow where it fits, above the arrow otherwise. */
function drawArrow(
  text: string,
  from: number,
  to: number,
  flight: Flight,
  lanes: Lanes,
  style: Style,
): Line[] {
  const [start, end] = from < to ? [from, to] : [to, from];
  const dash = flight.leftAt === null ? '─' : '╌';
  const arrow = lifelines(lanes).put(start + 1, dash.repeat(end - start - 1), style);
  if (from < to) arrow.put(start, '├', style).put(end - 1, flight.lost ? '╳' : '►', style);
  else arrow.put(end, '┤', style).put(start + 1, flight.lost ? '╳' : '◄', style);
  if (stringWidth(text) + ARROW_CELLS - 1 <= end - start) {
    return [arrow.put(from < to ? start + 2 : start + 3, ` ${text} `, style)];
  }
  const above = wrap(text, Math.max(lanes.width - start - 2, NARROWEST_TEXT)).map((line) => {
    // Near the right edge the text moves left, over lifelines that have nothing to say here.
    const at = Math.max(Math.min(start + 1, lanes.width - stringWidth(line) - 2), 0);
    return lifelines(lanes).put(at, ` ${line} `, style);
  });
  return [...above, arrow];
}

/** What one actor does by itself: a mark on its lifeline, and the text on the side with room for it. */
function drawMoment(mark: string, text: string, at: number, lanes: Lanes, style: Style): Line[] {
  const toRight = lanes.width - at - 2;
  const toLeft = at - 2;
  const onRight = stringWidth(text) <= toRight || toRight >= toLeft;
  return wrap(text, Math.max(onRight ? toRight : toLeft, NARROWEST_TEXT)).map((line, index) => {
    const drawn = lifelines(lanes).put(at, index === 0 ? mark : '│', style);
    if (onRight) return drawn.put(at + 1, ` ${line} `, style);
    return drawn.put(at - 2 - stringWidth(line), ` ${line} `, style);
  });
}
