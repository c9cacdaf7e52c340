import { describe, expect, test } from 'vitest';
import type { Run } from '../../../../sim/world/run.ts';
import { scenarios } from '../../../../sim/world/scenarios.ts';
import { createSimulator, type Simulator } from '../../../../sim/world/simulator.ts';
import type { PoolClient, TestHandlers, TestPorts } from '../../../../sim/testing/index.ts';
import { toSystem } from '../../../../sim/testing/to-integration.ts';
import { naive, naiveHandlers } from '../../../kit/naive.ts';
import { sharedPglite } from '../../../setup/databases.ts';

/** The naive integration with some of it written otherwise. */
async function simulatorOf(
  name: string,
  handlers: (ports: TestPorts) => Partial<TestHandlers>,
): Promise<Simulator> {
  const scenario = scenarios.find((one) => one.name === name);
  if (scenario === undefined) throw new Error(`No scenario ${name}.`);
  const system = toSystem(
    naive({ start: (ports) => ({ ...naiveHandlers(ports), ...handlers(ports) }) }),
  );
  return createSimulator({ ...system, scenario, database: await sharedPglite() });
}

const insert = async (client: PoolClient, job: string): Promise<void> => {
  await client.query('insert into orders (id) values (-1) on conflict do nothing');
  await client.query("insert into videos values ($1, 'queued', -1) on conflict do nothing", [job]);
};

/** Seeds enough for a step of every kind to come at every place of so small a scenario. */
const SEEDS = Array.from({ length: 12 }, (_, index) => index + 1);

async function runs(simulator: Simulator): Promise<Run[]> {
  const all: Run[] = [];
  for (const seed of SEEDS) all.push(await simulator.run({ seed }));
  return all;
}

describe('a transaction that is written by hand', () => {
  test('is one step, with its statements and its end, and its changes are committed with it', async () => {
    const simulator = await simulatorOf('stale-poll', ({ pool }) => ({
      poll: async (job) => {
        const client = await pool.connect();
        await client.query('BEGIN ISOLATION LEVEL SERIALIZABLE;');
        await insert(client, job);
        const { rows } = await client.query<{ transaction_isolation: string }>(
          'show transaction_isolation',
        );
        expect(rows).toEqual([{ transaction_isolation: 'serializable' }]);
        expect(await client.query('COMMIT')).toMatchObject({ command: 'COMMIT', rowCount: null });
        client.release();
      },
    }));
    for (const run of await runs(simulator)) {
      const [step, ...more] = run.steps.filter(({ actor }) => actor === 'poller');
      expect(more).toEqual([]);
      expect(step?.text).toMatch(
        /^transaction: insert orders \(1 row\), insert videos \([01] rows?\), show transaction_isolation \(1 row\), committed$/,
      );
    }
  });

  test('leaves nothing when it is rolled back, or a statement of it failed', async () => {
    const simulator = await simulatorOf('stale-poll', ({ pool }) => ({
      submit: async () => {
        const client = await pool.connect();
        await client.query('begin');
        await insert(client, 'job_a');
        await client.query('rollback');
        await client.query('begin');
        await expect(client.query('select * from nowhere')).rejects.toMatchObject({
          code: '42P01',
        });
        expect(await client.query('commit')).toMatchObject({ command: 'ROLLBACK' });
      },
    }));
    const { steps } = await simulator.run({ seed: 1 });
    expect(steps.slice(0, 2).map(({ text }) => text)).toEqual([
      'transaction: insert orders (1 row), insert videos (1 row), rolled back',
      'transaction: select nowhere fails, rolled back: a statement had failed',
    ]);
    expect(steps.flatMap(({ changes }) => changes)).toEqual([]);
  });

  test('holds the connection while it waits for something else, and nothing of it is seen before', async () => {
    const simulator = await simulatorOf('stale-poll', ({ pool, fetch, sume }) => ({
      poll: async (job) => {
        const client = await pool.connect();
        await client.query('begin');
        await client.query("update videos set state = 'processing' where job = $1", [job]);
        await fetch(`${sume.baseUrl}/jobs/${job}/status`, {
          headers: { authorization: `Bearer ${sume.apiKey}` },
        });
        await client.query('commit');
      },
    }));
    let held = 0;
    for (const { steps } of await runs(simulator)) {
      const begun = steps.findIndex(({ text }) => text.includes('left open, waiting'));
      const ended = steps.findIndex(({ label }) => label === 'poll/job_a/1 ← GET status');
      expect(begun).toBeGreaterThan(-1);
      const between = steps.slice(begun, ended);
      held += between.length - 1;
      expect(between.slice(1).filter(({ kind }) => kind === 'statement')).toEqual([]);
      expect(between.flatMap(({ changes }) => changes)).toEqual([]);
    }
    // Something else did happen meanwhile, in some order.
    expect(held).toBeGreaterThan(SEEDS.length);
  });

  test('that never ends is told as what everybody waits for', async () => {
    const simulator = await simulatorOf('stale-poll', ({ pool }) => ({
      poll: async () => {
        const client = await pool.connect();
        await client.query('begin');
        await pool.query('select 1 from videos');
      },
    }));
    const { verdict, error } = await simulator.run({ seed: 1 });
    expect(verdict).toBe('error');
    expect(error?.code).toBe('blocked_task');
    expect(error?.message).toContain('poll/job_a/1');
    // And the next schedule begins as if nothing had been.
    expect(await simulator.run({ seed: 1 })).toMatchObject({ verdict, error });
  });
});

describe('faults', () => {
  test('break the connection at the commit, before or after, and then it stays broken', async () => {
    const seen = new Map<string, boolean>();
    const codes = new Set<unknown>();
    const simulator = await simulatorOf('commit-unknown', ({ pool }) => ({
      handleWebhook: async () => {
        const client = await pool.connect();
        try {
          await client.query('begin');
          await insert(client, 'job_a');
          await client.query('commit');
          return new Response();
        } catch (error) {
          codes.add((error as { code?: unknown }).code);
          codes.add(await client.query('rollback').catch(({ code }: { code?: unknown }) => code));
          return new Response(null, { status: 503 });
        }
      },
    }));
    for (let seed = 1; seed <= 60; seed += 1) {
      const { steps } = await simulator.run({ seed });
      for (const { kind, fault, changes, text } of steps) {
        if (fault === null || kind !== 'transaction' || !text.includes('insert videos (1 row)'))
          continue;
        seen.set(fault, (seen.get(fault) ?? false) || changes.length > 0);
      }
    }
    expect([...codes]).toEqual(['08006']);
    expect(Object.fromEntries(seen)).toEqual({
      'error-after-commit': true,
      'error-before-commit': false,
    });
  });

  test('end a transaction that is open when its process crashes', async () => {
    const simulator = await simulatorOf('submit-crash', ({ pool, fetch, sume }) => ({
      submit: async ({ key, model, input }) => {
        const client = await pool.connect();
        await client.query('begin');
        await insert(client, `job_${key}`);
        await fetch(`${sume.baseUrl}/models/${model}/runs`, {
          method: 'POST',
          headers: {
            authorization: `Bearer ${sume.apiKey}`,
            'idempotency-key': key,
            'content-type': 'application/json',
          },
          body: JSON.stringify({ ...input, mode: 'webhook', webhook_url: sume.webhookUrl }),
        });
        await client.query('commit');
      },
    }));
    let crashes = 0;
    for (const { steps } of await runs(simulator)) {
      const crash = steps.findIndex(({ fault, actor }) => fault === 'crash' && actor === 'submit');
      if (crash === -1) continue;
      crashes += 1;
      // The row has a fixed id: had the first transaction stayed, the second could not insert it.
      const again = steps
        .slice(crash)
        .find(({ actor, kind }) => actor === 'submit' && kind === 'transaction');
      expect(again?.text).toContain('insert videos (1 row)');
    }
    expect(crashes).toBeGreaterThan(0);
  });
});

test('callbacks, cursors and streams are refused with what to do instead', async () => {
  const simulator = await simulatorOf('stale-poll', ({ pool }) => ({
    poll: async () => {
      const loose = pool as unknown as { query: (...given: unknown[]) => Promise<unknown> };
      await expect(loose.query('select 1', () => {})).rejects.toMatchObject({ code: 'pool_call' });
      await expect(loose.query({ submit: () => {} })).rejects.toMatchObject({ code: 'pool_call' });
      const lent = await new Promise((resolve) => {
        pool.connect((_error, client) => resolve(client));
      });
      expect(lent).toHaveProperty('release');
    },
  }));
  const { steps } = await simulator.run({ seed: 1 });
  expect(steps.map(({ text }) => text).join('\n')).not.toContain('throws');
});
