import type { Run } from '../world/run.ts';
import type { SimulationDatabase } from '../world/session.ts';
import { createSimulator } from '../world/simulator.ts';
import type { IntegrationUnderTest } from './integration-under-test.ts';
import { kitLoopWatch } from './kit-loop-watch.ts';
import { scenariosNamed } from './scenario-named.ts';
import type { Departure, PickedFault } from './schedule-arbitraries.ts';
import { toSystem } from './to-integration.ts';

export interface ScheduleOptions {
  /** As `schedule()` generates them; none by default. */
  departures?: readonly Departure[];
  /** As `faults()` generates them; none by default. */
  faults?: readonly PickedFault[];
  /** `early-webhook` by default. */
  scenario?: string;
  /** A PGlite that nothing else uses: a property runs many schedules, and making one takes seconds. */
  database: SimulationDatabase;
}

/**
 * Plays one generated schedule and gives what came of it: the verdict, the violations, the steps and the token. For
 * properties of one's own, which fast-check then makes smaller:
 *
 * ```ts
 * fc.asyncProperty(schedule(), faults(), async (departures, faults) => {
 *   const { violations } = await runSchedule(integration, { departures, faults, database });
 *   expect(violations).toEqual([]);
 * });
 * ```
 */
export async function runSchedule(
  integration: IntegrationUnderTest,
  { departures = [], faults = [], scenario = 'early-webhook', database }: ScheduleOptions,
): Promise<Run> {
  const system = toSystem(integration);
  const [played] = scenariosNamed(scenario);
  const simulator = await createSimulator({
    ...system,
    loopWatch: kitLoopWatch,
    scenario: played,
    database,
  });
  return simulator.pick({ departures, faults });
}
