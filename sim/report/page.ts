import stringWidth from 'string-width';
import type { Step } from '../engine/trace.ts';
import type { Run } from '../world/run.ts';
import { changeText } from './change-text.ts';
import { stepText } from './draw-step.ts';
import { arrivals, type Flight } from './flight.ts';
import { placeLanes, usedActors, type Lanes } from './lanes.ts';
import { virtualTime } from './virtual-time.ts';
import { visible } from './visible.ts';

/** The widest that the column of row changes gets before a change is wrapped. */
const WIDEST_CHANGE = 44;

/** Where everything on a page of columns goes, in cells. */
export interface Page {
  width: number;
  numberCells: number;
  timeCells: number;
  /** Where the diagram begins. */
  left: number;
  lanes: Lanes;
  /** What the header of the diagram needs. */
  extent: number;
  /** Whether row changes stand beside the diagram, rather than below their step. */
  beside: boolean;
}

/**
 * Lays a page out for the steps that are shown. The diagram gets what its texts ask for, as far as the width
 * allows; the changes stand beside it unless that would squeeze it.
 */
export function layOut(
  run: Run,
  steps: Step[],
  flightOf: (step: Step) => Flight,
  width: number,
): Page {
  const widest = (texts: string[], least: number): number =>
    Math.max(least, ...texts.map((text) => stringWidth(text)));
  const numberCells = String(run.steps.length).length;
  const timeCells = widest(
    steps.map((step) => virtualTime(step.timeMs)),
    'time'.length,
  );
  const left = 2 + numberCells + 2 + timeCells + 3;
  const actors = usedActors(run.actors, steps, flightOf);
  const changes = steps.flatMap((step) => step.changes.map(changeText));
  const changeCells = Math.min(widest(changes, 0), WIDEST_CHANGE);
  // Right of the last lifeline: its name, and where the messages arrive that left there.
  const tail = widest(
    steps.map((step) => `│${arrivals(flightOf(step))}`),
    stringWidth(actors.at(-1) ?? ''),
  );
  const messages = steps.flatMap((step) => {
    const flight = flightOf(step);
    if (flight.ends === null) return [];
    const { from, to } = flight.ends;
    return [{ from: visible(from), to: visible(to), text: stepText(step, flight) }];
  });
  const place = (room: number): Lanes => placeLanes(actors.map(visible), messages, room, tail);
  const whole = place(width - left);
  const narrow = place(width - left - changeCells - 2);
  const beside =
    changes.length > 0 &&
    narrow.crowded <= whole.crowded &&
    narrow.width <= width - left - changeCells - 2;
  const lanes = beside ? narrow : whole;
  const extent = Math.max(0, ...[...lanes.at].map(([name, at]) => at + stringWidth(name)));
  return { width, numberCells, timeCells, left, lanes, extent, beside };
}
