import { integrations } from '../../../../sim/integrations/index.ts';
import type { Integration } from '../../../../sim/world/integration.ts';
import type { InvariantName, Run } from '../../../../sim/world/run.ts';
import { scenarios, type Scenario } from '../../../../sim/world/scenarios.ts';
import { createSimulator, type Simulator } from '../../../../sim/world/simulator.ts';
import { sharedPglite } from '../../../setup/databases.ts';

export function scenarioNamed(name: string): Scenario {
  const scenario = scenarios.find((one) => one.name === name);
  if (scenario === undefined) throw new Error(`No scenario ${name}.`);
  return scenario;
}

export function integrationNamed(name: string): Integration {
  const integration = integrations.find((one) => one.name === name);
  if (integration === undefined) throw new Error(`No integration ${name}.`);
  return integration;
}

/** A simulator of what is shipped, by name, on the database that the tests share. */
export async function simulatorOf(scenario: string, integration: string): Promise<Simulator> {
  return createSimulator({
    scenario: scenarioNamed(scenario),
    integration: integrationNamed(integration),
    database: await sharedPglite(),
  });
}

/** The first schedule, by seed, that violates the invariant, or any if none is named. */
export async function firstFailure(simulator: Simulator, named?: InvariantName): Promise<Run> {
  for (let seed = 1; seed <= 500; seed += 1) {
    const run = await simulator.run({ seed });
    if (run.violations.some(({ invariant }) => invariant === (named ?? invariant))) return run;
  }
  throw new Error(`500 schedules did not violate ${named ?? 'anything'}.`);
}
