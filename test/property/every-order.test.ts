import { describe, expect, it } from 'vitest';
import { integrations } from '../../sim/integrations/index.ts';
import type { Run } from '../../sim/world/run.ts';
import { scenarios } from '../../sim/world/scenarios.ts';
import { createSimulator, type Simulator } from '../../sim/world/simulator.ts';
import { sharedPglite } from '../setup/databases.ts';

async function simulatorOf(scenarioName: string, integrationName: string): Promise<Simulator> {
  const scenario = scenarios.find(({ name }) => name === scenarioName);
  const integration = integrations.find(({ name }) => name === integrationName);
  if (scenario === undefined || integration === undefined) throw new Error('Not shipped.');
  return createSimulator({ scenario, integration, database: await sharedPglite() });
}

/** The rows as a schedule leaves them, and what it violated. */
function endOf({ steps, violations }: Run): string {
  const rows = new Map<string, string>();
  for (const { table, key, after } of steps.flatMap(({ changes }) => changes)) {
    if (after === null) rows.delete(`${table} ${key}`);
    else rows.set(`${table} ${key}`, JSON.stringify(after));
  }
  const broken = violations.map(({ invariant }) => invariant).toSorted();
  return JSON.stringify([[...rows].toSorted(([a], [b]) => (a < b ? -1 : 1)), broken]);
}

/** Every end that the search sees. */
async function endsOf(
  simulator: Simulator,
  options: NonNullable<Parameters<Simulator['explore']>[0]>,
): Promise<{
  ends: Set<string>;
  schedules: number;
  orders: number | null;
  complete: boolean;
  failures: Run[];
}> {
  const ends = new Set<string>();
  const explored = await simulator.explore({
    ...options,
    onSchedule: (run) => void ends.add(endOf(run)),
  });
  return { ...explored, ends };
}

describe('the search that covers every order', () => {
  for (const integration of ['guarded', 'look-then-park-autocommit', 'drop-unknown']) {
    it(`sees every end that ${integration} can come to, in fewer schedules than there are orders`, async () => {
      const simulator = await simulatorOf('early-webhook', integration);
      const all = await endsOf(simulator, { prune: false });
      const pruned = await endsOf(simulator, {});
      expect(all.complete && pruned.complete).toBe(true);
      expect(pruned.ends).toEqual(all.ends);
      expect(pruned.schedules).toBeLessThan(all.schedules);
      // The orders that its schedules stand for are all the orders there are, each once.
      expect(pruned.orders).toBe(all.schedules);
      expect(all.failures.length > 0).toBe(integration !== 'guarded');
    });
  }

  it('misses an end when steps that depend on each other are declared independent', async () => {
    const simulator = await simulatorOf('early-webhook', 'look-then-park-autocommit');
    const pruned = await endsOf(simulator, {});
    const blind = await endsOf(simulator, { dependent: () => false });
    expect(blind.ends.size).toBeLessThan(pruned.ends.size);
  });

  it('covers the guarded core with a fault, and says what a limit left out', async () => {
    const simulator = await simulatorOf('early-webhook', 'guarded');
    const whole = await simulator.explore({ faults: 1 });
    expect(whole.failures).toEqual([]);
    expect(whole.complete).toBe(true);
    expect(whole.faultSets).toBeGreaterThan(1);
    const limited = await simulator.explore({ faults: 1, maxSchedules: 20 });
    expect(limited.complete).toBe(false);
    expect(limited.schedules).toBe(20);
  });
});
