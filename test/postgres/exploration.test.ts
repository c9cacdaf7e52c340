import { afterAll, beforeAll, describe, expect, inject, it, onTestFinished } from 'vitest';
import { Client } from 'pg';
import { decodeToken } from '../../sim/engine/token.ts';
import { onTheCore } from '../../sim/integrations/core-parts.ts';
import { guarded } from '../../sim/integrations/guarded.ts';
import { integrations } from '../../sim/integrations/index.ts';
import { openPostgresServer, type PostgresServer } from '../../sim/postgres/postgres-server.ts';
import type { Integration } from '../../sim/world/integration.ts';
import type { Run } from '../../sim/world/run.ts';
import { scenarios } from '../../sim/world/scenarios.ts';
import { createSimulator, type Simulator } from '../../sim/world/simulator.ts';
import type { Database } from '../../src/database.ts';
import { describePostgres } from '../setup/databases.ts';
import { exploreCalls, type OrderOfCalls, type RaceOfCalls } from './race-of-calls.ts';

const base = inject('databaseUrl') ?? '';

function shipped(name: string): Integration {
  const found = integrations.find((one) => one.name === name);
  if (found === undefined) throw new Error('Not shipped.');
  return found;
}

async function simulatorOn(
  server: PostgresServer,
  integration: Integration,
  scenarioName: string,
): Promise<Simulator> {
  const scenario = scenarios.find(({ name }) => name === scenarioName);
  if (scenario === undefined) throw new Error('Not shipped.');
  return createSimulator({ scenario, integration, database: server });
}

describePostgres('a world on a real server, statement by statement', () => {
  let server: PostgresServer;
  beforeAll(async () => {
    server = await openPostgresServer(base);
  });
  afterAll(() => server.close());

  for (const name of ['look-then-park', 'lock-at-repeatable-read', 'look-without-rank']) {
    it(`shows what ${name} loses, by the invariant named for it, and shows it again`, async () => {
      const simulator = await simulatorOn(server, shipped(name), 'open-transaction');
      const { complete, failures } = await simulator.explore();
      expect(complete).toBe(true);
      const named = shipped(name).caughtBy ?? [];
      const broken = new Set(failures.flatMap((run) => run.violations.map((one) => one.invariant)));
      expect([...broken]).toEqual(expect.arrayContaining([...named]));
      const [shortest] = failures;
      if (shortest === undefined) throw new Error('Nothing was found.');
      expect(decodeToken(shortest.token).database).toBe('postgres');
      const again = [
        await simulator.replay(shortest.token),
        await simulator.replay(shortest.token),
      ];
      expect(again.map(({ steps }) => JSON.stringify(steps))).toEqual(
        again.map(() => JSON.stringify(shortest.steps)),
      );
    });
  }

  // At serializable the calls alone are explored, in every-order-of-calls: whole worlds take a quarter of a minute.
  for (const name of ['guarded', 'guarded-in-transaction']) {
    it(`finds nothing against ${name}, in any order`, async () => {
      const simulator = await simulatorOn(server, shipped(name), 'open-transaction');
      const { complete, failures, schedules } = await simulator.explore();
      expect(failures.map(({ token }) => token)).toEqual([]);
      expect(complete).toBe(true);
      expect(schedules).toBeGreaterThan(1);
    });
  }

  it('survives crashes and broken connections, and leaves no transaction open', async () => {
    const kinds = new Set<string | null>();
    const searches = { everything: 6, 'submit-crash': 10, 'commit-unknown': 10 };
    for (const [scenario, seeds] of Object.entries(searches)) {
      const simulator = await simulatorOn(server, guarded, scenario);
      for (let seed = 1; seed <= seeds; seed += 1) {
        const run: Run = await simulator.run({ seed });
        expect(run.violations.map(({ message }) => message).join('\n') + run.token).toBe(run.token);
        expect(run.verdict).toBe('pass');
        for (const { fault } of run.steps) kinds.add(fault);
      }
    }
    expect(kinds).toContain('crash');
    expect(kinds).toContain('error-after-commit');
    const simple = await simulatorOn(server, guarded, 'open-transaction');
    const [run, again] = [await simple.run({ seed: 5 }), await simple.run({ seed: 5 })];
    expect(again.steps).toEqual(run.steps);
  });

  it('has nothing outside its schemas, and drops them in the end', async () => {
    const own = await openPostgresServer(base);
    await simulatorOn(own, guarded, 'open-transaction').then((simulator) =>
      simulator.run({ seed: 1 }),
    );
    const client = new Client({ connectionString: base });
    await client.connect();
    onTestFinished(() => client.end());
    const backends = async (): Promise<unknown[]> =>
      (await client.query("select from pg_stat_activity where application_name = 'sume-sim'")).rows;
    const before = await schemasOf(client);
    expect((await backends()).length).toBeGreaterThan(0);
    await own.close();
    expect((await schemasOf(client)).length).toBeLessThan(before.length);
  });
});

async function schemasOf(client: Client): Promise<string[]> {
  const { rows } = await client.query<{ name: string }>(
    "select nspname as name from pg_namespace where nspname like 'sume_sim_%'",
  );
  return rows.map(({ name }) => name);
}

/** Two calls that lock two rows in opposite order, and a look at what they find. */
const crossing: Integration = onTheCore({
  name: 'crossing',
  text: 'Locks two rows in the order that comes.',
  hasEffects: false,
  handlers: () => ({}),
});
const lockBoth =
  (first: string, second: string): RaceOfCalls['calls'][string] =>
  (database) =>
    database.transaction(async (tx) => {
      const update = 'update sume_parked set deliveries = deliveries + 1 where job_id = $1';
      await tx.query(update, [first]);
      await tx.query(update, [second]);
    });
const CROSSING: RaceOfCalls = {
  before: (database) =>
    database.query(
      `insert into sume_parked (job_id, event, status, body, received_at, deliveries)
       select id, 'e', 's', '', '2026-01-01', 0 from unnest($1::text[]) as id`,
      [['job_a', 'job_b']],
    ),
  calls: { one: lockBoth('job_a', 'job_b'), other: lockBoth('job_b', 'job_a') },
};

describePostgres('orders of statements on a real server', () => {
  const endOf = ({ rows, outcomes }: OrderOfCalls): string =>
    JSON.stringify({
      deliveries: ['job_a', 'job_b'].map((id) => rows.parked.get(id)?.['deliveries']),
      outcomes: ['one', 'other'].map(
        (name) => (outcomes[name] as { code?: string } | undefined)?.code,
      ),
    });
  const textsOf = ({ steps }: OrderOfCalls): string[] =>
    steps.map(({ task, text }) => `${task}: ${text}`);

  async function explored(
    server: PostgresServer,
    race: RaceOfCalls,
    options: { prune?: boolean } = {},
  ): Promise<{ ends: Set<string>; traces: string[][]; schedules: number; orders: number | null }> {
    const ends = new Set<string>();
    const traces: string[][] = [];
    const { complete, ...counts } = await exploreCalls(
      await server.stage(crossing),
      race,
      (order) => {
        ends.add(endOf(order));
        traces.push(textsOf(order));
      },
      options,
    );
    expect(complete).toBe(true);
    return { ends, traces, ...counts };
  }

  it('are pruned without losing an end, and every order is counted once', async () => {
    const server = await openPostgresServer(base);
    onTestFinished(() => server.close());
    const all = await explored(server, CROSSING, { prune: false });
    const pruned = await explored(server, CROSSING);
    expect(pruned.ends).toEqual(all.ends);
    expect(pruned.schedules).toBeLessThan(all.schedules);
    expect(pruned.orders).toBe(all.schedules);
  });

  it('are pruned without losing what is read in a table that nobody watches', async () => {
    const server = await openPostgresServer(base);
    onTestFinished(() => server.close());
    const stage = await server.stage(
      onTheCore({
        name: 'notes',
        text: 'Writes notes.',
        tables: { name: 'notes', ddl: 'create table notes (job_id text)' },
        handlers: () => ({}),
      }),
    );
    const counting = async (database: Database): Promise<unknown> =>
      (await database.query('select from notes where job_id = $1', ['job_a'])).rows.length;
    const noting = (database: Database): Promise<unknown> =>
      database.transaction((tx) => tx.query('insert into notes values ($1)', ['job_a']));
    const readBy = async (prune: boolean): Promise<Set<unknown>> => {
      const found = new Set<unknown>();
      await exploreCalls(
        stage,
        { calls: { counting, noting } },
        ({ outcomes }) => found.add(outcomes['counting']),
        { prune },
      );
      return found;
    };
    expect(await readBy(false)).toEqual(new Set([0, 1]));
    expect(await readBy(true)).toEqual(new Set([0, 1]));
  });

  describe('show', () => {
    it('waits, and deadlocks with always the same victim: the one who closes the circle', async () => {
      const server = await openPostgresServer(base);
      onTestFinished(() => server.close());
      const { traces, ends } = await explored(server, CROSSING);
      const deadlock = traces.find((trace) => trace.some((line) => line.includes('40P01')));
      const waits = deadlock?.findIndex((line) => line.includes('waits for')) ?? -1;
      const fails = deadlock?.findIndex((line) => line.includes('fails: 40P01')) ?? -1;
      const goesOn = deadlock?.findIndex((line) => line.endsWith('after its wait')) ?? -1;
      expect(waits).toBeGreaterThan(-1);
      expect(fails).toBeGreaterThan(waits);
      expect(goesOn).toBeGreaterThan(fails);
      // Either of them closes the circle in some order, and both come through in others.
      expect(ends.size).toBe(3);
      expect((await explored(server, CROSSING)).traces).toEqual(traces);
    });

    it('serialization failures, where the second to write has looked before the first commits', async () => {
      const server = await openPostgresServer(base, { defaultIsolation: 'repeatable read' });
      onTestFinished(() => server.close());
      const { traces } = await explored(server, CROSSING);
      expect(traces.flat().some((line) => line.includes('fails: 40001'))).toBe(true);
    });
  });

  it('are the same for a role that may not have its backends tell that they wait', async () => {
    const admin = new Client({ connectionString: base });
    await admin.connect();
    const { rows } = await admin.query<{ id: string; database: string }>(
      'select pg_current_xact_id()::text as id, current_database() as database',
    );
    const role = `sume_plain_${rows[0]?.id ?? ''}`;
    await admin.query(`create role ${role} login password 'plain'`);
    await admin.query(`grant create on database "${rows[0]?.database ?? ''}" to ${role}`);
    onTestFinished(async () => {
      await admin.query(`drop owned by ${role}`);
      await admin.query(`drop role ${role}`);
      await admin.end();
    });
    const url = new URL(base);
    url.username = role;
    url.password = 'plain';
    const plain = await openPostgresServer(url.href);
    const telling = await openPostgresServer(base);
    try {
      expect([plain.tellsWaits, telling.tellsWaits]).toEqual([false, true]);
      expect((await explored(plain, CROSSING)).traces).toEqual(
        (await explored(telling, CROSSING)).traces,
      );
    } finally {
      await plain.close();
      await telling.close();
    }
  });

  it('need the right to create a schema, and say so', async () => {
    const admin = new Client({ connectionString: base });
    await admin.connect();
    const { rows } = await admin.query<{ id: string }>('select pg_current_xact_id()::text as id');
    const role = `sume_none_${rows[0]?.id ?? ''}`;
    await admin.query(`create role ${role} login password 'plain'`);
    onTestFinished(async () => {
      await admin.query(`drop role ${role}`);
      await admin.end();
    });
    const url = new URL(base);
    url.username = role;
    url.password = 'plain';
    await expect(openPostgresServer(url.href)).rejects.toMatchObject({
      code: 'no_rights',
      message: expect.stringContaining('GRANT CREATE ON DATABASE') as string,
    });
  });
});
