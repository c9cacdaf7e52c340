import { describe, expect, it } from 'vitest';
import type { Event } from '../../sim/engine/exploration.ts';
import { conflict } from '../../sim/engine/footprint.ts';
import { integrations } from '../../sim/integrations/index.ts';
import type { Integration } from '../../sim/world/integration.ts';
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

/** An order, by the labels of its steps. */
function nameOf(events: readonly Event[]): string {
  return events.map(({ label }) => label).join('\n');
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

  it('sees with a fault every end that more than a thousand orders come to; swapping independent steps changes none', async () => {
    const simulator = await simulatorOf('early-webhook', 'guarded');
    const endOfOrder = new Map<string, string>();
    const orders: (readonly Event[])[] = [];
    const all = await simulator.explore({
      faults: 1,
      prune: false,
      onSchedule: (run, events) => {
        endOfOrder.set(nameOf(events), endOf(run));
        orders.push(events);
      },
    });
    expect(all.complete).toBe(true);
    expect(all.schedules).toBeGreaterThan(1_000);
    const pruned = await endsOf(simulator, { faults: 1 });
    expect(pruned.ends).toEqual(new Set(endOfOrder.values()));
    expect(pruned.schedules).toBeLessThan(all.schedules / 10);

    let swaps = 0;
    for (const events of orders) {
      for (const [index, earlier] of events.entries()) {
        const later = events[index + 1];
        if (later === undefined || later.cause === index) continue;
        if (conflict(earlier.footprint, later.footprint)) continue;
        const swapped = events.with(index, later).with(index + 1, earlier);
        const end = endOfOrder.get(nameOf(swapped));
        // A crash can't come before there is something that can crash.
        if (end === undefined && [earlier, later].some(({ cause }) => cause < -1)) continue;
        expect(end).toBe(endOfOrder.get(nameOf(events)));
        swaps += 1;
      }
    }
    expect(swaps).toBeGreaterThan(1_000);
  }, 180_000);

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

describe('what two steps share beside the rows', () => {
  const guarded = integrations.find(({ name }) => name === 'guarded');
  if (guarded === undefined) throw new Error('Not shipped.');

  /** What the search finds in an integration with another way to poll or to handle webhooks, and what seeds find. */
  async function searched(
    scenarioName: string,
    change: Partial<Integration>,
  ): Promise<{ everyOrder: number; atRandom: number }> {
    const scenario = scenarios.find(({ name }) => name === scenarioName);
    if (scenario === undefined) throw new Error('Not shipped.');
    const integration: Integration = { ...guarded, ...change } as Integration;
    const simulator = await createSimulator({
      scenario,
      integration,
      database: await sharedPglite(),
    });
    const exploration = await simulator.explore();
    expect(exploration.complete).toBe(true);
    let atRandom = 0;
    for (let seed = 1; seed <= 150; seed += 1) {
      if ((await simulator.run({ seed })).verdict === 'fail') atRandom += 1;
    }
    return { everyOrder: exploration.failures.length, atRandom };
  }

  it('a read of the replica comes before a write, or after it', async () => {
    const { everyOrder, atRandom } = await searched('stale-poll', {
      name: 'polls-the-replica',
      start: (ports) => ({
        ...guarded.start(ports),
        poll: async (jobId) => {
          const sql = 'select status from sume_jobs where job_id = $1';
          const { rows } = await ports.replica.query<{ status: string }>(sql, [jobId]);
          if (rows[0]?.status !== 'queued') return;
          await ports.database.query(
            'update sume_jobs set status = $2, rank = 0 where job_id = $1',
            [jobId, 'queued'],
          );
        },
      }),
    });
    expect(atRandom).toBeGreaterThan(0);
    expect(everyOrder).toBeGreaterThan(0);
  });

  it('memory is of one process, and lost on others', async () => {
    const { everyOrder, atRandom } = await searched('duplicate-webhook', {
      name: 'remembers-in-memory',
      memory: 'shared',
      start: (ports) => {
        const handlers = guarded.start(ports);
        let submitted = false;
        return {
          ...handlers,
          submit: async (order) => {
            const jobId = await handlers.submit(order);
            submitted = true;
            return jobId;
          },
          handleWebhook: (request) =>
            submitted
              ? Promise.resolve(new Response(null, { status: 200 }))
              : handlers.handleWebhook(request),
        };
      },
    });
    // Each process has its own memory: what the submit worker remembers, the web process does not know.
    expect({ everyOrder, atRandom }).toEqual({ everyOrder: 0, atRandom: 0 });
  });

  it('the memory of one process, between two of its tasks', async () => {
    const { everyOrder, atRandom } = await searched('conflicting-terminals', {
      name: 'first-event-in-memory',
      memory: 'shared',
      start: (ports) => {
        const handlers = guarded.start(ports);
        let first: string | null = null;
        return {
          ...handlers,
          handleWebhook: async (request) => {
            const { event } = (await request.clone().json()) as { event: string };
            first ??= event;
            // Answered without being stored, if it is not the first.
            return first === event
              ? handlers.handleWebhook(request)
              : new Response(null, { status: first === 'job.failed' ? 500 : 200 });
          },
        };
      },
    });
    expect(atRandom).toBeGreaterThan(0);
    expect(everyOrder).toBeGreaterThan(0);
  });
});

describe('the search outward from run-to-completion', () => {
  it('comes, departure by departure, to every order that there is, and says when there are no others', async () => {
    const simulator = await simulatorOf('early-webhook', 'look-then-park-autocommit');
    const all = await simulator.explore({ prune: false });
    const found = await simulator.searchByDepartures({ departures: 20 });
    expect(found.complete).toBe(true);
    expect(found.schedules).toBe(all.schedules);
    expect(found.failures).toHaveLength(all.failures.length);
  });

  it('finds a race that takes two departures with two, and not with one', async () => {
    const simulator = await simulatorOf('early-webhook', 'look-then-park-autocommit');
    const one = await simulator.searchByDepartures({ departures: 1 });
    const two = await simulator.searchByDepartures({ departures: 2 });
    expect(one).toMatchObject({ departures: 1, complete: false, failures: [] });
    expect(two.departures).toBe(2);
    expect(two.failures.length).toBeGreaterThan(0);
  });

  it('claims a level only when nothing of it was left out', async () => {
    const simulator = await simulatorOf('early-webhook', 'guarded');
    const { schedules } = await simulator.searchByDepartures({ departures: 1 });
    const cut = await simulator.searchByDepartures({ departures: 2, maxSchedules: schedules + 1 });
    expect(cut).toMatchObject({ departures: 1, complete: false, schedules: schedules + 1 });
    const parts = [0, 1].map((part) =>
      simulator.searchByDepartures({ departures: 2, covers: (number) => number % 2 === part }),
    );
    const [even, odd] = await Promise.all(parts);
    const whole = await simulator.searchByDepartures({ departures: 2 });
    expect((even?.schedules ?? 0) + (odd?.schedules ?? 0)).toBe(whole.schedules);
  });
});
