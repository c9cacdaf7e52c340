import type { Chooser } from '../engine/chooser.ts';
import { keepShortest, type Play } from './explore.ts';
import { isNondeterministic, NondeterminismError } from './nondeterminism-error.ts';
import type { Run } from './run.ts';

export interface BoundedSearchOptions {
  /** The most departures from run-to-completion in a schedule; a fault is one. */
  departures: number;
  /** Stop after so many schedules. */
  maxSchedules?: number;
  /** Ends the search, with what was covered so far. */
  signal?: AbortSignal;
  onProgress?: (progress: { schedules: number; departures: number }) => void;
  /** Which schedules to cover, by their number from 0, in an order that is the same for each search. */
  covers?: (schedule: number) => boolean;
}

export interface BoundedSearch {
  /** Every schedule with so many departures or fewer was covered; −1 if not even run-to-completion was. */
  departures: number;
  /** Whether there are no others: a schedule with one more departure does not exist. */
  complete: boolean;
  schedules: number;
  /** As an exploration's: the shortest first, or else the one in which the code did otherwise than before. */
  failures: Run[];
  last: Run;
}

/** A place where a schedule leaves run-to-completion: at which step, and what it takes there. */
interface Departure {
  at: number;
  take: string;
}

/**
 * Every schedule with at most so many departures from run-to-completion, first none, then one, and so on. What
 * cannot be searched whole can be searched so: most races need one departure or two, and each level says what it
 * covered. (The idea is that of context bounding: Musuvathi and Qadeer, PLDI 2007.)
 */
export async function searchByDepartures(
  play: Play,
  options: BoundedSearchOptions,
): Promise<BoundedSearch> {
  const { departures, maxSchedules = Infinity, signal, onProgress, covers = () => true } = options;
  const failures: Run[] = [];
  let schedules = 0;
  let number = -1;
  let last: Run | null = null;
  const mayGoOn = (): boolean =>
    schedules < maxSchedules && signal?.aborted !== true && !failures.some(isNondeterministic);

  /** Plays the schedule with these departures and those that go on from it. Gives how many there were. */
  const visit = async (so: readonly Departure[], left: number, level: number): Promise<number> => {
    if (left === 0) {
      number += 1;
      // Something has to be shown, even where nothing is to be covered.
      if (!covers(number) && last !== null) return 1;
    }
    const chooser = createDepartingChooser(so);
    last = await play(chooser, () => {});
    if (isNondeterministic(last)) {
      schedules += 1;
      failures.unshift(last);
      return 1;
    }
    if (left === 0) {
      if (!covers(number)) return 1;
      schedules += 1;
      if (last.verdict !== 'pass') keepShortest(failures, last);
      onProgress?.({ schedules, departures: level });
      return 1;
    }
    const after = so.at(-1)?.at ?? -1;
    let count = 0;
    for (const [at, others] of chooser.others.entries()) {
      if (at <= after) continue;
      for (const take of others) {
        if (!mayGoOn()) return count;
        count += await visit([...so, { at, take }], left - 1, level);
      }
    }
    return count;
  };

  let covered = -1;
  let complete = false;
  for (let level = 0; level <= departures && mayGoOn(); level += 1) {
    const count = await visit([], level, level);
    // An aborted level has none either.
    if (count === 0 && mayGoOn()) complete = true;
    if (count === 0 || (schedules > 0 && !mayGoOn())) break;
    covered = level;
  }
  if (last === null) throw new Error('No schedule was run.');
  return { departures: covered, complete, schedules, failures, last };
}

/** Runs to completion but for the departures, and writes down what else could have been taken. */
function createDepartingChooser(departures: readonly Departure[]): Chooser & {
  /** Labels of what was not preferred, step by step. */
  readonly others: readonly (readonly string[])[];
} {
  const others: string[][] = [];
  const wanted = new Map(departures.map(({ at, take }) => [at, take]));
  return {
    others,
    choose: (choices, preferred) => {
      const at = others.length;
      others.push(choices.filter((option) => option !== preferred).map(({ label }) => label));
      const take = wanted.get(at);
      if (take === undefined) return preferred;
      const option = choices.find(({ label }) => label === take);
      if (option === undefined) {
        throw new NondeterminismError(
          `The search took the same ${at} steps again, and the runs part at step ${at + 1}: "${take}" could be ` +
            'taken there before, and now it cannot; what can be taken is ' +
            `${choices.map(({ label }) => `"${label}"`).join(', ')}.`,
        );
      }
      return option;
    },
  };
}
