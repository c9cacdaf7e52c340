import { afterAll, beforeAll, expect, test } from 'vitest';
import { systemClock } from '../../src/clock.ts';
import type { Database } from '../../src/database.ts';
import { postgresDatabase } from '../../src/postgres.ts';
import { createReconciler, type Reconciler } from '../../src/reconciler.ts';
import { migrate } from '../../src/schema.ts';
import { event } from '../contract/subject.ts';
import { describePostgres, openPostgres } from '../setup/databases.ts';

describePostgres('waiting for another writer of the same job', () => {
  let opened: Awaited<ReturnType<typeof openPostgres>>;
  let database: Database;
  let reconciler: Reconciler;

  beforeAll(async () => {
    opened = await openPostgres();
    database = postgresDatabase(opened.pool);
    await migrate(database);
    reconciler = createReconciler({ database, lockTimeoutMs: 100 });
  });
  afterAll(() => opened.close());

  /** Runs work while another transaction holds what `hold` took. */
  const whileHeld = async <T>(
    hold: (tx: Parameters<Parameters<Database['transaction']>[0]>[0]) => Promise<unknown>,
    work: () => Promise<T>,
  ): Promise<T> => {
    let value: T | undefined;
    await database.transaction(async (tx) => {
      await hold(tx);
      value = await work();
    });
    return value as T;
  };
  const outcome = (call: Promise<string>): Promise<unknown> =>
    call.catch((error: unknown) => (error as { code?: unknown }).code);

  test('an event for a job whose registration is still open waits, gives up, and lands on a later try', async () => {
    const told = await whileHeld(
      (tx) => reconciler.register('job_open', {}, tx),
      () => outcome(reconciler.receive(event('job_open'))),
    );
    expect(told).toBe('55P03');
    expect(await reconciler.receive(event('job_open'))).toBe('applied');
  });

  test('so does an update of a row that another transaction has changed, hook or no hook', async () => {
    const hooked = createReconciler({ database, lockTimeoutMs: 100, onTerminal: () => undefined });
    for (const [jobId, core] of [
      ['job_row', reconciler],
      ['job_hooked', hooked],
    ] as const) {
      await core.register(jobId);
      const told = await whileHeld(
        (tx) => tx.query('update sume_jobs set checked_at = null where job_id = $1', [jobId]),
        () => outcome(core.receive(event(jobId))),
      );
      expect(told).toBe('55P03');
      expect(await core.receive(event(jobId))).toBe('applied');
    }
  });

  test('so does filling a result, and giving a row its correlation id', async () => {
    await reconciler.advance('job_fill', 'completed', { insert: true });
    const hold = (tx: { query: Database['query'] }): Promise<unknown> =>
      tx.query(`update sume_jobs set checked_at = null where job_id = 'job_fill'`);
    expect(await whileHeld(hold, () => outcome(reconciler.receive(event('job_fill'))))).toBe(
      '55P03',
    );
    expect(
      await whileHeld(hold, () => outcome(reconciler.register('job_fill', { correlationId: 'o' }))),
    ).toBe('55P03');
  });

  test('serializable has no lock to wait for, but its waits end too', async () => {
    const serializable = createReconciler({
      database,
      lockTimeoutMs: 100,
      concurrency: 'serializable',
    });
    const told = await whileHeld(
      (tx) =>
        tx.query(
          `insert into sume_jobs (job_id, status, rank, created_at, updated_at)
           values ('job_slow', 'queued', 0, $1, $1)`,
          [new Date(systemClock.now())],
        ),
      () => outcome(serializable.register('job_slow')),
    );
    expect(told).toBe('55P03');
  });

  test('a sweeper passes over rows that another transaction holds, and does not wait', async () => {
    const asked: string[] = [];
    const client = {
      status: (jobId: string) => {
        asked.push(jobId);
        return Promise.resolve({ jobId, status: null, word: null, resultReady: false });
      },
      result: () => Promise.reject(new Error('nothing has completed')),
      job: () => Promise.reject(new Error('nothing is parked')),
    };
    await database.query('delete from sume_jobs');
    await reconciler.register('job_free');
    await reconciler.register('job_busy');
    await whileHeld(
      (tx) => tx.query(`select 1 from sume_jobs where job_id = 'job_busy' for update`),
      () => reconciler.sweep({ client, staleAfterMs: 0, recheckMs: 0, orphanAfterMs: 0 }),
    );
    expect(asked).toEqual(['job_free']);
  });

  test('the limit does not stay on the connection', async () => {
    const { rows } = await database.query('show lock_timeout');
    expect(rows).toEqual([{ lock_timeout: '0' }]);
  });

  test('another job is never waited for', async () => {
    const told = await whileHeld(
      (tx) => reconciler.register('job_held', {}, tx),
      async () => [
        await reconciler.receive(event('job_other')),
        await reconciler.register('job_other'),
      ],
    );
    expect(told).toEqual(['parked', 'reconciled']);
  });
});
