import stringWidth from 'string-width';
import type { Step } from '../engine/trace.ts';
import type { Flight } from './flight.ts';
import { Line } from './line.ts';

/** Where each actor's lifeline stands, in cells from the diagram's left edge. */
export interface Lanes {
  at: Map<string, number>;
  /** Cells that the diagram may use; text runs up to here. */
  width: number;
  /** How many messages do not fit their arrows. */
  crowded: number;
}

/** What an arrow needs beside its text: `├─ ` before it and ` ─►│` after. */
export const ARROW_CELLS = 7;

/** The least distance between two lifelines: an arrow with a status code still fits. */
const NARROWEST_LANE = 9;

/**
 * Places lifelines in the order given, as near to each other as names and message texts allow and together
 * within `width` cells less `tail`, which stay free at the right of the last one. Messages between
 * neighbours are served first, since the long ones gain from that too; where no room is left, a message is
 * written above its arrow.
 */
export function placeLanes(
  actors: string[],
  messages: { from: string; to: string; text: string }[],
  width: number,
  tail: number,
): Lanes {
  const gaps = actors.map((name) => Math.max(stringWidth(name) + 2, NARROWEST_LANE));
  gaps.pop();
  const sum = (cells: number[]): number => cells.reduce((total, cell) => total + cell, 0);
  const wishes = messages
    .map(({ from, to, text }) => {
      const ends = [actors.indexOf(from), actors.indexOf(to)].sort((left, right) => left - right);
      return { start: ends[0] ?? 0, end: ends[1] ?? 0, cells: stringWidth(text) + ARROW_CELLS };
    })
    .filter(({ start, end }) => start >= 0 && start < end)
    .sort((left, right) => left.end - left.start - (right.end - right.start));
  for (const { start, end, cells } of wishes) {
    const missing = cells - sum(gaps.slice(start, end));
    if (missing <= 0 || sum(gaps) + missing > width - tail) continue;
    let left = missing;
    for (let lane = start; lane < end; lane += 1) {
      const share = Math.ceil(left / (end - lane));
      gaps[lane] = (gaps[lane] ?? 0) + share;
      left -= share;
    }
  }
  const at = new Map(actors.map((name, lane) => [name, sum(gaps.slice(0, lane))]));
  const crowded = wishes.filter(({ start, end, cells }) => cells > sum(gaps.slice(start, end)));
  return { at, width: Math.max(width, sum(gaps) + tail), crowded: crowded.length };
}

/** The lanes that some steps use, in the order of the run's actors. Idle ones would only cost width. */
export function usedActors(
  actors: string[],
  steps: Step[],
  flightOf: (step: Step) => Flight,
): string[] {
  const used = new Set(
    steps.flatMap((step) => {
      const { ends } = flightOf(step);
      return ends === null ? [step.actor] : [ends.from, ends.to];
    }),
  );
  return [...actors.filter((actor) => used.delete(actor)), ...used];
}

/** A line on which nothing happens: every lifeline goes on. */
export function lifelines(lanes: Lanes, piece: '│' | '┊' = '│'): Line {
  const line = new Line();
  for (const at of lanes.at.values()) line.put(at, piece, 'faint');
  return line;
}
