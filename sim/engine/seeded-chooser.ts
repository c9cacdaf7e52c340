import type { Option } from './call.ts';
import type { Chooser } from './chooser.ts';
import type { Random } from './random.ts';

/** An answer under way arrives at most this many steps after it could. */
const LONGEST_WAY = 40;

/** What a schedule may hold, and about how long it is. */
export interface SeededLimits {
  faults: readonly string[];
  /** The most faults in one schedule. */
  budget: number;
  /** Over how many steps, from the first, faults and timers are spread. */
  steps: number;
}

/**
 * Draws one schedule from a seed. Each schedule first draws its own temper (swarm testing): how readily it leaves a
 * task that could run on, whether it holds faults, and of which kinds. A single fixed temper keeps most mistakes
 * hidden: some need long undisturbed runs, others a switch at every step.
 *
 * Most are walks; every fifth gives each event a rank (partial-order sampling), so that one waits while whole chains of
 * others pass it. Faults and timers have moments, drawn evenly over the schedule; a fault is of a kind from the
 * beginning and waits for a step that it can be put into. In some schedules what Sume does by itself has moments too,
 * and answers are long under way.
 *
 * What was measured: how many of a hundred schedules of `everything` show a mistake (300 to 800 schedules each, so
 * ±1), for `sweeper-unguarded`, `dedupe-before-work`, `sweeper-invents-failure` and `look-then-park-autocommit`.
 * All others show in more. What a fault is: "fits" is one of any kind, from a moment on, as soon as one fits. What is
 * held back: the chances that a schedule spreads Sume's own events, and that it delays answers.
 *
 * | order                    | faults                          | held back        | s-u | d-b-w | s-i-f | l-t-p-a |
 * | ------------------------ | ------------------------------- | ---------------- | --- | ----- | ----- | ------- |
 * | half by rank of the task | fits, up to all                 |                  | 3.6 |   2.4 |   2.8 |         |
 * | a quarter, same          | fits, mostly all                |                  | 2.4 |   3.3 |   4.1 |     5.4 |
 * | walks                    | fits, mostly all                |                  | 5.0 |   2.2 |   3.4 |     6.8 |
 * | by rank of the event     | fits, mostly all                |                  | 2.6 |   2.8 |   1.4 |    12.6 |
 * | a third, same            | fits, on few of the actors      |                  | 4.2 |   3.8 |   1.0 |     9.3 |
 * | a quarter, same          | of its own kind, all of them    |                  | 3.7 |   5.2 |  13.8 |         |
 * | a fifth, same            | of its own kind, all or none    |                  | 3.4 |   4.0 |   9.7 |     8.3 |
 * | same                     | same                            | always, 0.4      | 10  |   9.2 |  20.8 |     3.3 |
 * | same                     | same                            | 0.6, 0.4         | 6.7 |   8.7 |       |     4.7 |
 * | same                     | same                            | 0.6, 0.5         | 5.8 |   4.9 |  13.5 |     5.4 |
 *
 * The last is what stands here. Faults put into steps at a rate were spent in the first ones: 1 schedule of 200
 * broke a request of the sweeper. Ranks of tasks that never change did not show `sweeper-unguarded` (0 in 200).
 */
export function createSeededChooser(random: Random, limits: SeededLimits): Chooser {
  const choosePlain = random.chance(0.2) ? byRank(random) : byWalk(random);
  const dueTimer = timersAtMoments(random, limits.steps);
  const notYet = holdingBack(random, limits.steps);
  const addFault = faultsAtMoments(random, limits);
  let step = 0;
  return {
    choose: (options, preferred) => {
      step += 1;
      const plain = options.filter(({ fault }) => fault === null);
      const others = plain.filter(({ pending }) => pending.dueMs === undefined);
      const ready = others.filter((option) => !notYet(option, step));
      const open = ready.length === 0 ? others : ready;
      const option =
        dueTimer(plain, step) ?? (open.length === 0 ? preferred : choosePlain(open, preferred));
      return addFault(options, option, step) ?? option;
    },
  };
}

/**
 * Says of a step that could be taken that its moment has not come. What Sume does by itself otherwise happens within
 * a few steps of its chance, and answers arrive when next the dice say so, long before the others' work is over.
 */
function holdingBack(random: Random, steps: number): (option: Option, step: number) => boolean {
  const eventsSpread = random.chance(0.6);
  const answersLate = random.chance(0.5);
  const moments = new Map<string, number>();
  const draw = ({ pending }: Option, step: number): number => {
    if (pending.call.kind === 'event' && eventsSpread) {
      return step + random.int(Math.max(Math.ceil(steps * 0.7) - step, 1));
    }
    if (pending.call.kind === 'answer' && answersLate && random.chance(0.5)) {
      return step + random.int(LONGEST_WAY);
    }
    return step;
  };
  return (option, step) => {
    const moment = moments.get(option.label) ?? draw(option, step);
    moments.set(option.label, moment);
    return step < moment;
  };
}

/** A timer whose moment has come, if there is one. Without a moment it waits until nothing else is left. */
function timersAtMoments(
  random: Random,
  steps: number,
): (plain: readonly Option[], step: number) => Option | null {
  const moments = new Map<string, number>();
  return (plain, step) => {
    for (const option of plain) {
      if (option.pending.dueMs === undefined) continue;
      const moment = moments.get(option.label) ?? step + random.int(Math.max(steps - step, 1));
      moments.set(option.label, moment);
      if (step >= moment) return option;
    }
    return null;
  };
}

/**
 * Faults, each of its own kind and with its own moment. From then on it waits for a step that it can be put into, so
 * that kinds with few places come up as often as those that fit everywhere.
 */
function faultsAtMoments(
  random: Random,
  limits: SeededLimits,
): (options: readonly Option[], chosen: Option, step: number) => Option | null {
  const kinds = random.chance(0.3) ? limits.faults : limits.faults.filter(() => random.chance(0.6));
  const wanted = kinds.length === 0 || random.chance(0.3) ? 0 : limits.budget;
  const waiting = Array.from({ length: wanted }, () => ({
    kind: random.pick(kinds),
    moment: random.int(limits.steps),
  })).toSorted((one, other) => one.moment - other.moment);
  return (options, chosen, step) => {
    for (const [index, { kind, moment }] of waiting.entries()) {
      if (step < moment) return null;
      // In the step itself, so that faults do not change the order; or a thing that only the adversary does.
      const possible = options.filter(
        ({ fault, pending }) =>
          fault === kind &&
          (pending === chosen.pending || pending.since < 0 || pending.call.guard === true),
      );
      if (possible.length === 0) continue;
      waiting.splice(index, 1);
      return random.pick(possible);
    }
    return null;
  };
}

type ChoosePlain = (plain: readonly Option[], preferred: Option) => Option;

/** Goes on with the task of the last step, or tosses who comes next. */
function byWalk(random: Random): ChoosePlain {
  const stickiness = random.pick([0.2, 0.5, 0.9]);
  return (plain, preferred) =>
    plain.includes(preferred) && random.chance(stickiness) ? preferred : random.pick(plain);
}

/** Each event has a rank from when it can first happen, and the highest comes next. */
function byRank(random: Random): ChoosePlain {
  const ranks = new Map<string, number>();
  const rankOf = ({ label }: Option): number => {
    const rank = ranks.get(label) ?? random.float();
    ranks.set(label, rank);
    return rank;
  };
  return (plain) => plain.reduce((one, other) => (rankOf(other) > rankOf(one) ? other : one));
}
