import { countEquivalent, exploreOrders, type Event } from '../engine/exploration.ts';
import type { Observation } from '../engine/engine.ts';
import type { Chooser } from '../engine/chooser.ts';
import { createExploringChooser } from './exploring-chooser.ts';
import { isNondeterministic } from './nondeterminism-error.ts';
import type { Run } from './run.ts';

export interface ExploreOptions {
  /** Schedules hold up to so many faults; 0 by default. */
  faults?: number;
  /** Stop after so many schedules. */
  maxSchedules?: number;
  /**
   * Which sets of faults to cover, by their number from 0, in an order that is the same for each search; all by
   * default. A set that others grow from is run in any case, and counted and judged only where it is wanted.
   */
  covers?: (faultSet: number) => boolean;
  /** Ends the search, with what was covered so far. */
  signal?: AbortSignal;
  onProgress?: (progress: { schedules: number; faultSets: number; faultSetsLeft: number }) => void;
  /** Receives each schedule that is not covered by another, and what was observed of its steps. */
  onSchedule?: (run: Run, events: readonly Event[]) => void;
  /** False takes every order, equivalent or not. For checking the search itself. */
  prune?: boolean;
  /** Whether the order of two steps can matter; by what they touch. For checking the search itself. */
  dependent?: (one: Event, other: Event) => boolean;
}

export interface Exploration {
  /** Whether every inequivalent order of every set of faults that was to be covered was. */
  complete: boolean;
  /** Schedules that were run, but for those that another stands for. */
  schedules: number;
  /** How many orders they stand for; null where there are too many to count. */
  orders: number | null;
  /** How many sets of faults there are within the budget. */
  faultSets: number;
  /**
   * Schedules that violated an invariant or could not be judged; the shortest first, at most a hundred. Code that did
   * otherwise than before ends the search, and then that schedule is the first.
   */
  failures: Run[];
  /** The last schedule that was run. */
  last: Run;
}

/** What one schedule of an exploration is played with, and what came of it. */
export type Play = (
  chooser: Chooser,
  onObservations: (observations: () => readonly Observation[]) => void,
) => Promise<Run>;

const MAX_FAILURES = 100;

/**
 * Covers every inequivalent order, for every set of faults within the budget. Sets of faults are enumerated
 * outside the search: each schedule shows which further faults were possible in it, and each of those, added,
 * is a set to search next. So a fault is never one more thing that could happen at any time.
 */
export async function explore(play: Play, options: ExploreOptions): Promise<Exploration> {
  const {
    faults: budget = 0,
    maxSchedules = Infinity,
    signal,
    onProgress,
    onSchedule,
    prune = true,
    covers = () => true,
    dependent,
  } = options;
  const waiting: (readonly string[])[] = [[]];
  const known = new Set<string>(['']);
  const failures: Run[] = [];
  let schedules = 0;
  let orders: number | null = 0;
  let last: Run | null = null;
  let complete = true;

  let number = -1;
  for (let faultSet = waiting.shift(); faultSet !== undefined; faultSet = waiting.shift()) {
    number += 1;
    const isWanted = covers(number);
    // Something has to be shown, even where nothing is wanted.
    if (!isWanted && faultSet.length === budget && last !== null) continue;
    const set = new Set(faultSet);
    const further = new Set<string>();
    const covered = await exploreOrders<Run>({
      prune,
      ...(dependent === undefined ? {} : { dependent }),
      execute: async (prefix, sleeping) => {
        let observations: () => readonly Observation[] = () => [];
        const chooser = createExploringChooser({
          prefix,
          sleeping,
          faults: set,
          observations: () => observations(),
        });
        const run = await play(chooser, (observe) => {
          observations = observe;
        });
        for (const label of chooser.possibleFaults) further.add(label);
        return {
          events: chooser.events(observations()),
          redundant: chooser.isRedundant,
          outcome: run,
        };
      },
      onSchedule: ({ events, outcome }) => {
        last = outcome;
        if (isNondeterministic(outcome)) {
          schedules += 1;
          orders = null;
          failures.unshift(outcome);
          return false;
        }
        // A set whose faults did not all happen is no new set: a smaller one covers it.
        if (!faultSet.every((label) => events.some((event) => event.label === label))) return true;
        if (!isWanted) {
          onProgress?.({ schedules, faultSets: known.size, faultSetsLeft: waiting.length });
          return faultSet.length < budget && signal?.aborted !== true;
        }
        schedules += 1;
        onSchedule?.(outcome, events);
        if (orders !== null) {
          const equivalent = prune ? countEquivalent(events, dependent) : 1;
          orders = equivalent === null ? null : orders + equivalent;
        }
        if (outcome.verdict !== 'pass') keepShortest(failures, outcome);
        onProgress?.({ schedules, faultSets: known.size, faultSetsLeft: waiting.length });
        return schedules < maxSchedules && signal?.aborted !== true;
      },
    });
    if (!covered && (isWanted || signal?.aborted === true || failures.some(isNondeterministic))) {
      complete = false;
      break;
    }
    if (faultSet.length < budget) {
      for (const label of further) {
        if (set.has(label)) continue;
        const next = [...faultSet, label].toSorted();
        // One step holds one fault.
        const steps = next.map((fault) => fault.split(' ✗ ')[0]);
        if (new Set(steps).size < steps.length || known.has(next.join('\n'))) continue;
        known.add(next.join('\n'));
        waiting.push(next);
      }
    }
  }
  if (last === null) throw new Error('No schedule was run.');
  return {
    complete,
    schedules,
    orders,
    faultSets: known.size,
    failures,
    last,
  };
}

/** Puts a failure in its place among those found, the shortest first; the longest go, so that memory stays flat. */
export function keepShortest(failures: Run[], run: Run): void {
  const place = failures.findIndex(({ steps }) => steps.length > run.steps.length);
  failures.splice(place === -1 ? failures.length : place, 0, run);
  failures.splice(MAX_FAILURES);
}
