import { expect, test } from 'vitest';
import { integrations } from '../../sim/integrations/index.ts';
import type { IntegrationUnderTest, TestPorts } from '../../sim/testing/index.ts';
import { toSystem } from '../../sim/testing/to-integration.ts';
import type { Integration } from '../../sim/world/integration.ts';
import type { Run } from '../../sim/world/run.ts';
import { scenarios } from '../../sim/world/scenarios.ts';
import { createSimulator } from '../../sim/world/simulator.ts';
import { sharedPglite } from '../setup/databases.ts';

/** A shipped integration as if its tables were a team's, known only by readers. */
function asTeams(integration: Integration): IntegrationUnderTest {
  const { name, tables } = integration;
  return {
    name,
    setup: (database) => integration.setup(database),
    start: (ports: TestPorts) => integration.start(ports),
    readJob: async (jobId, database) => {
      const sql = `select status, result from ${tables.jobs} where job_id = $1`;
      return (await database.query<{ status: string }>(sql, [jobId])).rows[0];
    },
    readParked: async (jobId, database) => {
      const sql = `select event, status, body from ${tables.parked} where job_id = $1`;
      return (await database.query<{ status: string }>(sql, [jobId])).rows[0];
    },
    ...(tables.effects === null ? {} : { readEffects: countEffects }),
  };
}

const countEffects: NonNullable<IntegrationUnderTest['readEffects']> = async (jobId, { pool }) => {
  const sql = 'select count(*) from effects where job_id = $1';
  return (await pool.query<{ count: string }>(sql, [jobId])).rows[0]?.count ?? 0;
};

const seen = ({ steps, violations }: Run): unknown => ({
  steps: steps.map(({ label }) => label),
  violations: violations.map(({ invariant, step }) => [invariant, step]),
});

test.each([
  'guarded',
  'last-terminal-wins',
  'park-overwrites',
  'effect-unguarded',
  'ack-before-store',
])('readers see of %s what the audit sees, step by step', async (name) => {
  const [scenario] = scenarios.filter((one) => one.name === 'everything');
  const [integration] = integrations.filter((one) => one.name === name);
  if (scenario === undefined || integration === undefined) throw new Error(`No ${name}.`);
  const database = await sharedPglite();
  const audited = await createSimulator({ scenario, integration, database });
  const system = toSystem(asTeams(integration));
  const read = await createSimulator({ ...system, scenario, database });
  for (let seed = 1; seed <= 6; seed += 1) {
    expect(seen(await read.run({ seed }))).toEqual(seen(await audited.run({ seed })));
  }
});
