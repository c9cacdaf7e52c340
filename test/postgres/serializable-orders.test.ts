import { afterAll, beforeAll, expect, inject, it } from 'vitest';
import type { Database, Queryable } from '../../src/database.ts';
import { openPostgresServer, type PostgresServer } from '../../sim/postgres/postgres-server.ts';
import type { Integration } from '../../sim/world/integration.ts';
import { describePostgres } from '../setup/databases.ts';
import { exploreCalls, type ExploredCalls, type OrderOfCalls } from './race-of-calls.ts';

/** Three tables of one row, which nothing links. */
const threeTables: Integration = {
  name: 'three tables',
  text: 'Holds a number in each of three tables.',
  tables: { jobs: 'a', parked: 'b', effects: 'c' },
  setup: async (database) => {
    for (const table of ['a', 'b', 'c']) {
      await database.query(`create table ${table} (job_id text primary key, n int not null)`);
    }
  },
  start: () => {
    throw new Error('Only its tables are used.');
  },
};

const fill = async (database: Database): Promise<void> => {
  for (const table of ['a', 'b', 'c']) {
    await database.query(`insert into ${table} values ($1, 1)`, ['job_a']);
  }
};

type Work = (tx: Queryable) => Promise<unknown>;

const read =
  (...tables: string[]): Work =>
  async (tx) => {
    const found: unknown[] = [];
    for (const table of tables) found.push((await tx.query(`select n from ${table}`)).rows);
    return found;
  };
const write =
  (table: string): Work =>
  (tx) =>
    tx.query(`update ${table} set n = n + 1 where job_id = $1`, ['job_a']);
/** Adds the sum of some tables to one, in one statement. */
const add =
  (table: string, ...others: string[]): Work =>
  (tx) =>
    tx.query(
      `update ${table} set n = n + ${others.map((other) => `(select sum(n)::int from ${other})`).join(' + ')} where job_id = $1`,
      ['job_a'],
    );
/** Writes a row as it was, having read another table. */
const holdStill =
  (table: string, other: string): Work =>
  (tx) =>
    tx.query(`update ${table} set n = n where (select n from ${other}) > 0 and job_id = $1`, [
      'job_a',
    ]);
const then =
  (...works: Work[]): Work =>
  async (tx) => {
    const all: unknown[] = [];
    for (const work of works) all.push(await work(tx));
    return all;
  };

const RACES: Record<string, Record<string, Work>> = {
  'write skew': { one: then(read('b'), write('a')), other: then(read('a'), write('b')) },
  'a circle of three': { one: add('a', 'b'), two: add('b', 'c'), three: add('c', 'a') },
  'a reader who sees what cannot have been': {
    writer: add('a', 'a'),
    other: add('b', 'a'),
    reader: read('a', 'b'),
  },
  'write skew, and one who only looks on': {
    one: then(read('b'), write('a')),
    other: add('b', 'a'),
    reader: read('a'),
  },
  'write skew, and one who has nothing to do with it': {
    one: then(read('b'), write('a')),
    other: add('b', 'a'),
    stranger: write('c'),
  },
  'one who has read what the first overwrites without a change': {
    first: holdStill('a', 'b'),
    overwritten: write('b'),
    reader: read('c', 'a'),
  },
  'two who hold still, and one who gives to the one what it takes from the other': {
    still: holdStill('c', 'c'),
    adds: add('c', 'a'),
    alsoStill: holdStill('a', 'a'),
  },
  'a chain': {
    first: then(read('b'), write('a')),
    middle: add('b', 'c'),
    last: write('c'),
  },
};

describePostgres('orders of transactions at serializable', () => {
  let server: PostgresServer;
  beforeAll(async () => {
    server = await openPostgresServer(inject('databaseUrl') ?? '');
  });
  afterAll(() => server.close());

  /** What came of it, and what each transaction met on its way: steps that can change places change neither. */
  const endOf = ({ outcomes, rows, steps }: OrderOfCalls): string =>
    JSON.stringify([
      Object.keys(outcomes)
        .sort()
        .map((name) => [
          name,
          codeOf(outcomes[name]) ?? outcomes[name],
          steps.filter(({ task }) => task === name).map(({ text }) => text),
        ]),
      rows.jobs.get('job_a'),
      rows.parked.get('job_a'),
    ]);

  async function explored(
    race: Record<string, Work>,
    prune: boolean,
  ): Promise<ExploredCalls & { ends: Set<string> }> {
    const ends = new Set<string>();
    const calls = Object.fromEntries(
      Object.entries(race).map(([name, work]) => [
        name,
        (database: Database) => database.transaction(work, { isolation: 'serializable' }),
      ]),
    );
    const counts = await exploreCalls(
      await server.stage(threeTables),
      { before: fill, calls },
      (order) => ends.add(endOf(order)),
      { prune },
    );
    expect(counts.complete).toBe(true);
    return { ...counts, ends };
  }

  it.for(Object.entries(RACES))('%s: pruned without losing an end', async ([, race]) => {
    const all = await explored(race, false);
    const pruned = await explored(race, true);
    expect(pruned.ends).toEqual(all.ends);
    expect(pruned.schedules).toBeLessThanOrEqual(all.schedules);
    expect(pruned.orders).toBe(all.schedules);
  });

  it('shows the failures that only this level has', async () => {
    const { ends } = await explored(RACES['write skew'] ?? {}, true);
    expect([...ends].some((end) => end.includes('40001'))).toBe(true);
  });
});

function codeOf(outcome: unknown): string | undefined {
  return (outcome as { code?: string } | null)?.code;
}
