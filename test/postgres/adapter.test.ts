import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Database } from '../../src/database.ts';
import { postgresDatabase } from '../../src/postgres.ts';
import { describePostgres, openPostgres } from '../setup/databases.ts';

const withoutRows = async (work: () => Promise<unknown>): Promise<unknown> =>
  work().then(
    () => {
      throw new Error('it should have failed');
    },
    (error: unknown) => error,
  );

describePostgres('a node-postgres pool as a database', () => {
  let opened: Awaited<ReturnType<typeof openPostgres>>;
  let database: Database;

  beforeAll(async () => {
    // One connection, so that it shows whether it was kept or replaced.
    opened = await openPostgres({ connections: 1 });
    database = postgresDatabase(opened.pool);
    await database.query('create table things (id int primary key, data jsonb, at timestamptz)');
  });
  afterAll(() => opened.close());

  const backend = async (): Promise<unknown> => {
    const { rows } = await database.query<{ pid: number }>('select pg_backend_pid() as pid');
    return rows[0]?.pid;
  };
  const kill = async (pid: unknown): Promise<void> => {
    const other = await openPostgres({ connections: 1 });
    await other.pool.query('select pg_terminate_backend($1, 5000)', [pid]);
    await other.close();
  };

  test('rows that were written are counted, rows that were read are returned', async () => {
    await database.query('delete from things');
    const written = await database.query('insert into things (id) values (1), (2)');
    expect(written).toEqual({ rows: [], affectedRows: 2 });
    const { rows } = await database.query('select id from things where id = any($1::int[])', [[2]]);
    expect(rows).toEqual([{ id: 2 }]);
  });

  test('a transaction commits what it did, or nothing', async () => {
    await database.query('delete from things');
    const value = await database.transaction(async (tx) => {
      await tx.query('insert into things (id) values (1)');
      return 'done';
    });
    expect(value).toBe('done');
    const undo = new Error('changed its mind');
    const failed = await withoutRows(() =>
      database.transaction(async (tx) => {
        await tx.query('insert into things (id) values (2)');
        throw undo;
      }),
    );
    expect(failed).toBe(undo);
    expect((await database.query('select id from things')).rows).toEqual([{ id: 1 }]);
  });

  test('a transaction runs at the level that is asked for, whatever the session begins with', async () => {
    const strict = await openPostgres({
      connections: 1,
      settings: ['default_transaction_isolation=serializable'],
    });
    const levels: unknown[] = [];
    for (const isolation of ['read committed', 'serializable', undefined] as const) {
      const { rows } = await postgresDatabase(strict.pool).transaction(
        (tx) => tx.query('show transaction_isolation'),
        isolation === undefined ? {} : { isolation },
      );
      levels.push(rows[0]?.['transaction_isolation']);
    }
    expect(levels).toEqual(['read committed', 'serializable', 'serializable']);
    await strict.close();
  });

  test('a statement that the server refuses costs no connection', async () => {
    const before = await backend();
    const failed = await withoutRows(() => database.query('select 1 / 0'));
    expect(failed).toMatchObject({ code: '22012' });
    await withoutRows(() => database.transaction((tx) => tx.query('select * from nowhere')));
    await withoutRows(() => database.transaction((tx) => tx.query('select * from nowhere')));
    expect(await backend()).toBe(before);
  });

  test('a commit that is answered by a rollback is an error', async () => {
    await database.query('delete from things');
    const before = await backend();
    const failed = await withoutRows(() =>
      database.transaction(async (tx) => {
        await tx.query('insert into things (id) values (1)');
        await tx.query('select 1 / 0').catch(() => undefined);
      }),
    );
    expect(failed).toMatchObject({ code: 'transaction_rolled_back' });
    expect((await database.query('select id from things')).rows).toEqual([]);
    expect(await backend()).toBe(before);
  });

  test('a commit that the server refuses is an error, and costs no connection', async () => {
    await database.query(
      'create table late (id int, constraint late_once unique (id) deferrable initially deferred)',
    );
    const before = await backend();
    const failed = await withoutRows(() =>
      database.transaction((tx) => tx.query('insert into late values (1), (1)')),
    );
    expect(failed).toMatchObject({ code: '23505' });
    expect(await backend()).toBe(before);
  });

  test('a connection that dies between two statements fails its transaction, and is not used again', async () => {
    await database.query('delete from things');
    const before = await backend();
    const failed = await withoutRows(() =>
      database.transaction(async (tx) => {
        await tx.query('insert into things (id) values (1)');
        await kill(before);
        await tx.query('insert into things (id) values (2)');
      }),
    );
    expect(failed).toBeInstanceOf(Error);
    expect(await backend()).not.toBe(before);
    expect((await database.query('select id from things')).rows).toEqual([]);
  });

  test('a connection that dies while it is lent, and is asked nothing more, is not used again', async () => {
    const before = await backend();
    await withoutRows(() =>
      database.transaction(async () => {
        await kill(before);
      }),
    );
    expect(await backend()).not.toBe(before);
  });

  test('statements are prepared once per connection, within bounds, or not at all', async () => {
    const prepared = async (on: Database): Promise<number> => {
      const { rows } = await on.query<{ n: number }>(
        'select count(*)::int as n from pg_prepared_statements',
      );
      return rows[0]?.n ?? -1;
    };
    const fresh = await openPostgres({ connections: 1 });
    const plain = postgresDatabase(fresh.pool, { prepare: false });
    await plain.query('select 1');
    expect(await prepared(plain)).toBe(0);
    const preparing = postgresDatabase(fresh.pool);
    for (let round = 0; round < 3; round += 1) {
      await preparing.query('select $1::int as n', [round]);
      await postgresDatabase(fresh.pool).query('select $1::int as n', [round]);
    }
    expect(await prepared(preparing)).toBe(2);
    for (let n = 0; n < 300; n += 1) await preparing.query(`select ${n} as n`);
    expect(await prepared(preparing)).toBe(200);
    await fresh.close();
  });
});
