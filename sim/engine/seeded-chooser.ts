import type { Option } from './call.ts';
import type { Chooser } from './chooser.ts';
import type { Random } from './random.ts';

/**
 * Draws one schedule from a seed. Each schedule first draws its own temper (swarm testing): whether it walks
 * or follows priorities, how readily it leaves a task that could run on, how many faults it wants, of which
 * kinds, and how soon. A single fixed temper keeps most mistakes hidden: some need long undisturbed runs,
 * others a switch at every step.
 *
 * Priorities: each task gets a random rank and the highest that can run does, but for a few moments where a
 * rank is drawn anew. A whole chain of other tasks then overtakes one that waits, which a walk that tosses a
 * coin at every step hardly ever gives.
 */
export function createSeededChooser(
  random: Random,
  limits: { faults: readonly string[]; budget: number },
): Chooser {
  const choosePlain = random.chance(0.5) ? byPriority(random) : byWalk(random);
  // A timer is one step among many, and taking it ends a great part of what could still race.
  const timerRate = random.pick([0.1, 0.3, 1]);
  const faultRate = random.pick([0.04, 0.12, 0.3]);
  let faultsLeft = limits.budget === 0 ? 0 : random.int(limits.budget + 1);
  const oneKind =
    random.chance(0.3) && limits.faults.length > 0 ? random.pick(limits.faults) : null;
  const kinds = new Set(
    oneKind === null ? limits.faults.filter(() => random.chance(0.6)) : [oneKind],
  );

  return {
    choose: (options, preferred) => {
      if (faultsLeft > 0 && random.chance(faultRate)) {
        const faulty = pickFault(options);
        if (faulty !== null) {
          faultsLeft -= 1;
          return faulty;
        }
      }
      const plain = options.filter(({ fault }) => fault === null);
      const option = choosePlain(plain, preferred);
      const isTimer = option.pending.call.dueMs !== undefined;
      return isTimer && !random.chance(timerRate) ? preferred : option;
    },
  };

  /** A kind first, then a place for it: else the kinds with many places would crowd out the others. */
  function pickFault(options: readonly Option[]): Option | null {
    const possible = options.filter(({ fault }) => fault !== null && kinds.has(fault));
    if (possible.length === 0) return null;
    const kind = random.pick([...new Set(possible.map(({ fault }) => fault))]);
    return random.pick(possible.filter(({ fault }) => fault === kind));
  }
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
