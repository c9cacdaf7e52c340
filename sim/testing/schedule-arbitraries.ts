import fc from 'fast-check';
import { faults as faultList, type FaultName } from '../world/faults.ts';

/** Where a schedule leaves run-to-completion: at which step, 1 for the first, and for which of the others. */
export interface Departure {
  at: number;
  take: number;
}

/** A fault, and the first step that may hold it. */
export interface PickedFault {
  at: number;
  fault: FaultName;
}

/** More than most scenarios of one job have. */
const STEPS = 40;
/** More than can usually be taken at once. */
const CHOICES = 6;

/**
 * Orders of a schedule, for `runSchedule`. Made smaller they come nearer to run-to-completion, in which each task
 * goes on for as long as it can.
 *
 * @param options.steps the last step that may depart; 40 by default.
 * @param options.departures the most departures; 8 by default.
 */
export function schedule(
  options: { steps?: number; departures?: number } = {},
): fc.Arbitrary<Departure[]> {
  const { steps = STEPS, departures = 8 } = options;
  return fc.uniqueArray(
    fc.record({
      at: fc.integer({ min: 1, max: steps }),
      take: fc.integer({ min: 0, max: CHOICES - 1 }),
    }),
    { maxLength: departures, selector: ({ at }) => at },
  );
}

/**
 * What the adversary does in a schedule, for `runSchedule`. A fault that the scenario does not have never happens.
 *
 * @param options.most the most faults; 2 by default.
 * @param options.kinds which may happen; every kind by default.
 */
export function faults(
  options: { most?: number; kinds?: readonly FaultName[]; steps?: number } = {},
): fc.Arbitrary<PickedFault[]> {
  const { most = 2, kinds = faultList.map(({ name }) => name), steps = STEPS } = options;
  return fc.array(
    fc.record({ at: fc.integer({ min: 1, max: steps }), fault: fc.constantFrom(...kinds) }),
    { maxLength: most },
  );
}
