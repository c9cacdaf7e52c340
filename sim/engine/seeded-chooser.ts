import type { Option } from './call.ts';
import type { Chooser } from './chooser.ts';
import type { Random } from './random.ts';

/** What a schedule may hold, and about how long it is. */
export interface SeededLimits {
  faults: readonly string[];
  /** The most faults in one schedule. */
  budget: number;
  /** Over how many steps, from the first, faults and timers are spread. */
  steps: number;
}

/**
 * Draws one schedule from a seed. Each schedule first draws its own temper (swarm testing): whether it walks
 * or follows priorities, how readily it leaves a task that could run on, how many faults it wants, of which
 * kinds and on whom. A single fixed temper keeps most mistakes hidden: some need long undisturbed runs, others
 * a switch at every step.
 *
 * Priorities: each task gets a random rank and the highest that can run does, but for a few moments where a
 * rank is drawn anew. A whole chain of other tasks then overtakes one that waits, which a walk that tosses a
 * coin at every step hardly ever gives.
 *
 * Faults and timers have moments, drawn evenly over the schedule. With a rate at every step instead, as it was
 * before, faults were spent in the first steps: in `everything` 1 schedule of 200 broke a request of the
 * sweeper, and with moments 9. Median number of schedules to the first violation over 20 searches of
 * `everything` (`npm run bench -- bugs`), rates against moments: `sweeper-invents-failure` 95 and 25,
 * `sweeper-unguarded` 66 and 42, `dedupe-before-work` 39 and 28, `look-then-park-autocommit` 13 and 20. All
 * others are at 14 or less, the worst single search is 166. Rates with timers held off for a random number of
 * draws were worse (73, 167, 63, 18). Of walks alone the sticky ones (0.9) find `sweeper-unguarded` best, 15 in
 * 200 schedules, and the loose ones (0.2) the races of two short tasks, 30 in 200 against 4: hence all of them.
 * Priorities that never change found neither (0 in 200).
 */
export function createSeededChooser(random: Random, limits: SeededLimits): Chooser {
  const choosePlain = random.chance(0.5) ? byPriority(random) : byWalk(random);
  const dueTimer = timersAtMoments(random, limits.steps);
  const addFault = faultsAtMoments(random, limits);
  let step = 0;
  return {
    choose: (options, preferred) => {
      step += 1;
      const plain = options.filter(({ fault }) => fault === null);
      const others = plain.filter(({ pending }) => pending.dueMs === undefined);
      const option =
        dueTimer(plain, step) ?? (others.length === 0 ? preferred : choosePlain(others, preferred));
      return addFault(options, option, step) ?? option;
    },
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
 * From its moment on a fault waits for a step that it can be put into: one of a kind that this schedule has,
 * done by somebody whom it does not spare.
 */
function faultsAtMoments(
  random: Random,
  limits: SeededLimits,
): (options: readonly Option[], chosen: Option, step: number) => Option | null {
  const wanted = limits.budget === 0 ? 0 : random.int(limits.budget + 1);
  const moments = Array.from({ length: wanted }, () => random.int(limits.steps)).toSorted(
    (one, other) => one - other,
  );
  const oneKind =
    random.chance(0.3) && limits.faults.length > 0 ? random.pick(limits.faults) : null;
  const kinds = new Set(
    oneKind === null ? limits.faults.filter(() => random.chance(0.6)) : [oneKind],
  );
  const spareRate = random.pick([0, 0.5, 0.8]);
  const spared = new Map<string, boolean>();
  const isSpared = (actor: string): boolean => {
    const is = spared.get(actor) ?? random.chance(spareRate);
    spared.set(actor, is);
    return is;
  };
  return (options, chosen, step) => {
    const [moment] = moments;
    if (moment === undefined || step < moment) return null;
    const possible = options.filter(
      ({ fault, pending }) => fault !== null && kinds.has(fault) && !isSpared(pending.task.actor),
    );
    // In the step itself, so that faults do not change the order; or a thing that only the adversary does.
    const here = possible.filter(({ pending }) => pending === chosen.pending);
    const beside = possible.filter(
      ({ pending }) => pending.since < 0 || pending.call.guard === true,
    );
    const from = here.length > 0 && (beside.length === 0 || random.chance(0.7)) ? here : beside;
    if (from.length === 0) return null;
    moments.shift();
    // A kind first, then a place for it: else the kinds with many places would crowd out the others.
    const kind = random.pick([...new Set(from.map(({ fault }) => fault))]);
    return random.pick(from.filter(({ fault }) => fault === kind));
  };
}

type ChoosePlain = (plain: readonly Option[], preferred: Option) => Option;

function byWalk(random: Random): ChoosePlain {
  const stickiness = random.pick([0.2, 0.5, 0.75, 0.9]);
  return (plain, preferred) => (random.chance(stickiness) ? preferred : random.pick(plain));
}

function byPriority(random: Random): ChoosePlain {
  const changeRate = random.pick([0, 0.05, 0.15]);
  const ranks = new Map<string, number>();
  return (plain, preferred) => {
    let highest = preferred;
    let highestRank = -1;
    for (const option of plain) {
      const { name } = option.pending.task;
      let rank = ranks.get(name);
      if (rank === undefined || random.chance(changeRate)) {
        rank = random.float();
        ranks.set(name, rank);
      }
      if (rank > highestRank) {
        highest = option;
        highestRank = rank;
      }
    }
    return highest;
  };
}
