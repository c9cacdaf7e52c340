import { describe, expect, test } from 'vitest';
import type { Database } from '../../../src/database.ts';
import { InputError } from '../../../src/errors.ts';
import { event } from '../../contract/subject.ts';
import { reconcilerOn, recordingDatabase, updatesFailing } from '../../setup/recording-database.ts';

describe('the statements of the core', () => {
  test('the end of a known job is one statement that commits by itself', async () => {
    const { database, log } = recordingDatabase(() => [{ correlation_id: null }]);
    expect(await reconcilerOn(database).receive(event('job_1'))).toBe('applied');
    expect(log).toEqual(['update sume_jobs set']);
  });

  test('with a hook it is a transaction, pinned at read committed by its first statement', async () => {
    const { database, log } = recordingDatabase(() => [{ correlation_id: null }]);
    await reconcilerOn(database, { onTerminal: () => undefined }).receive(event('job_1'));
    expect(log).toEqual(['begin', 'set transaction isolation', 'update sume_jobs set', 'commit']);
  });

  test('a database that pins the level is told it, and sent no statement for it', async () => {
    const { database, log } = recordingDatabase(() => [{ correlation_id: null }], true);
    await reconcilerOn(database, { onTerminal: () => undefined }).receive(event('job_1'));
    expect(log).toEqual(['begin read committed', 'update sume_jobs set', 'commit']);
  });

  test('why nothing was changed is asked only then, in a statement of its own', async () => {
    const { database, log } = recordingDatabase((sql) =>
      sql.startsWith('select') ? [{ status: 'completed', rank: 2 }] : [],
    );
    expect(await reconcilerOn(database).receive(event('job_1'))).toBe('duplicate');
    expect(log).toEqual(['update sume_jobs set', 'select status, rank,']);
  });

  test('a row that slips in between the two is updated, not taken for an answer', async () => {
    let updates = 0;
    const { database, log } = recordingDatabase((sql) => {
      if (sql.startsWith('select')) return [{ status: 'queued', rank: 0 }];
      updates += 1;
      return updates === 2 ? [{ correlation_id: null }] : [];
    });
    expect(await reconcilerOn(database).receive(event('job_1'))).toBe('applied');
    expect(log).toEqual(['update sume_jobs set', 'select status, rank,', 'update sume_jobs set']);
  });

  test('a row that slips in and out for ever is an error in the end', async () => {
    const { database } = recordingDatabase((sql) =>
      sql.startsWith('select') ? [{ status: 'queued', rank: 0 }] : [],
    );
    await expect(
      reconcilerOn(database, { maxAttempts: 3 }).receive(event('job_1')),
    ).rejects.toMatchObject({ code: 'contention' });
  });

  test('an event is parked under the lock, after a second look', async () => {
    const { database, log } = recordingDatabase(() => [], true);
    expect(await reconcilerOn(database).receive(event('job_1'))).toBe('parked');
    expect(log).toEqual([
      'update sume_jobs set',
      'select status, rank,',
      'begin read committed',
      'select case when', // the lock
      'update sume_jobs set',
      'select status, rank,',
      'insert into sume_parked',
      'commit',
    ]);
  });

  test('a job is registered under the lock: insert, then take out what waits', async () => {
    const { database, log } = recordingDatabase(
      (sql) => (sql.startsWith('insert') ? [{ job_id: 'job_1' }] : []),
      true,
    );
    expect(await reconcilerOn(database).register('job_1')).toBe('registered');
    expect(log).toEqual([
      'begin read committed',
      'select case when',
      'insert into sume_jobs',
      'delete from sume_parked',
      'commit',
    ]);
  });

  test('serializable takes no lock and does everything in one transaction', async () => {
    const { database, log } = recordingDatabase(() => [], true);
    const reconciler = reconcilerOn(database, { concurrency: 'serializable' });
    expect(await reconciler.receive(event('job_1'))).toBe('parked');
    expect(log).toEqual([
      'begin serializable',
      "select set_config('lock_timeout', $1,",
      'update sume_jobs set',
      'select status, rank,',
      'insert into sume_parked',
      'commit',
    ]);
  });
});

describe('a payload that the database refuses', () => {
  test('costs the payload, not the end of the job: one more try without it', async () => {
    const params: unknown[][] = [];
    const { database } = recordingDatabase(updatesFailing('54000', 1));
    const watched: Database = {
      ...database,
      query: (sql, given) => {
        params.push(given ?? []);
        return database.query(sql, given);
      },
    };
    expect(await reconcilerOn(watched).receive(event('job_1'))).toBe('applied');
    const [first, second] = params;
    expect(first?.[2]).toBe(JSON.stringify(event('job_1').result));
    expect(second?.[2]).toBeNull();
    expect(second?.[4]).toBe(event('job_1').body);
  });

  test('and when it was not the payload, the error comes through', async () => {
    const { database, log } = recordingDatabase(updatesFailing('22P02', 2));
    await expect(reconcilerOn(database).receive(event('job_1'))).rejects.toMatchObject({
      code: '22P02',
    });
    expect(log).toHaveLength(2);
  });
});

describe('options that cannot be', () => {
  const { database } = recordingDatabase(() => []);
  test.each([
    { lockTimeoutMs: 0 },
    { lockTimeoutMs: 1.5 },
    { maxAttempts: 0 },
    { maxAttempts: Number.NaN },
    { concurrency: 'optimistic' as 'locks' },
    { prefix: 'Bad' },
  ])('%j is refused at construction', (options) => {
    expect(() => reconcilerOn(database, options)).toThrow(InputError);
  });
});
