import { createOrderChooser, type Chooser } from '../engine/chooser.ts';
import { contested } from '../engine/contested.ts';
import type { Observation } from '../engine/engine.ts';
import { ledTo } from '../engine/led-to.ts';
import type { Race } from './counterexample.ts';
import type { Run } from './run.ts';

/** Swaps tried before it is said that none helps; each is one schedule. */
const MAX_SWAPS = 24;

/**
 * The two steps of a failing run whose order makes it fail: they touch the same resource, and with the later
 * one first the run passes, which is really run. Of several such pairs the one nearest to the violation is
 * found: first among the steps that led to it, then with one that came too late to prevent it. The later step
 * takes with it what its task did in between.
 *
 * @param last index of the violating step in `run.steps`.
 */
export async function findRace(
  run: Run,
  observations: readonly Observation[],
  last: number,
  play: (chooser: Chooser) => Promise<Run>,
): Promise<Race | null> {
  let swaps = 0;
  for (const [early, late] of pairs(run, observations, last)) {
    const [first, second] = [run.steps[early], run.steps[late]];
    const [one, other] = [observations[early], observations[late]];
    if (first === undefined || second === undefined || first.task === second.task) continue;
    if (one === undefined || other === undefined) continue;
    const on = mostTelling(contested(one.footprint, other.footprint));
    if (on === undefined) continue;
    if (swaps === MAX_SWAPS) return null;
    swaps += 1;
    const swapped = await play(createOrderChooser(swap(run, early, late)));
    if (swapped.verdict === 'pass' && isBefore(swapped, second.label, first.label)) {
      return { first, second, on, swapped };
    }
  }
  return null;
}

/** Indexes of an earlier and a later step, the most promising first. */
function* pairs(
  run: Run,
  observations: readonly Observation[],
  last: number,
): Generator<readonly [number, number]> {
  const story = ledTo(observations, last).toReversed();
  for (const late of story) {
    for (const early of story) if (early < late) yield [early, late];
  }
  for (let late = last + 1; run.steps[late]?.phase === 'safety'; late += 1) {
    for (const early of story) yield [early, late];
  }
}

/** What was not asked for yet cannot come first: then a swap was none. */
function isBefore({ steps }: Run, early: string, late: string): boolean {
  const order = steps.map(({ label }) => label);
  const [first, second] = [order.indexOf(early), order.indexOf(late)];
  return first !== -1 && (second === -1 || first < second);
}

/** The labels of a run, with the later step, and what its task did since the earlier one, before that one. */
function swap(run: Run, early: number, late: number): string[] {
  const task = run.steps[late]?.task;
  const moves = run.steps.slice(early, late + 1).filter((step) => step.task === task);
  const stay = run.steps.slice(early).filter((step) => !moves.includes(step));
  return [...run.steps.slice(0, early), ...moves, ...stay].map(({ label }) => label);
}

/** Kinds of resources, the ones that a reader can do most with first. */
const TELLING = ['row:', 'sume:', 'clock:', 'process:', 'time'];

function mostTelling(names: readonly string[]): string | undefined {
  return names.toSorted((one, other) => kindOf(one) - kindOf(other))[0];
}

function kindOf(name: string): number {
  const kind = TELLING.findIndex((begin) => name.startsWith(begin));
  return kind === -1 ? TELLING.length : kind;
}
