import { afterEach, expect, it } from 'vitest';
import { postgresTransaction, type JobStatus } from '../../src/index.ts';
import { describePostgres } from '../setup/databases.ts';
import { recordEffect } from './record-effect.ts';
import { openService, type Service } from './service.ts';
import { untilSomebodyWaitsFor } from './until-blocked.ts';

describePostgres('a transaction that PostgreSQL ends to break a tie', () => {
  let service: Service | undefined;
  afterEach(async () => {
    await service?.close();
    service = undefined;
  });

  it.for([
    { mode: 'serializable', concurrency: 'serializable', settings: [] },
    {
      mode: 'a session that defaults to repeatable read',
      concurrency: 'locks',
      settings: ['default_transaction_isolation=repeatable read'],
    },
    {
      mode: 'a session that defaults to serializable',
      concurrency: 'locks',
      settings: ['default_transaction_isolation=serializable'],
    },
  ] as const)(
    'runs again after a serialization failure: $mode',
    async ({ concurrency, settings }) => {
      service = await openService({ concurrency }, { settings: [...settings] });
      const { reconciler, pool } = service;
      await reconciler.register('job_1');
      const { client, pid } = await service.outsider();
      await client.query('begin isolation level read committed');
      await client.query(
        "update sume_jobs set status = 'processing', rank = 1 where job_id = 'job_1'",
      );
      const received = reconciler.receive(completed('job_1'));
      await untilSomebodyWaitsFor(pool, pid);
      await client.query('commit'); // the waiting update now fails with 40001

      expect(await received).toBe('applied');
      expect(await statusOf(service, 'job_1')).toBe('completed');
    },
  );

  it('gives up with the error of the database after as many attempts as were allowed', async () => {
    service = await openService({ concurrency: 'serializable', maxAttempts: 1 });
    const { reconciler, pool } = service;
    await reconciler.register('job_1');
    const { client, pid } = await service.outsider();
    await client.query('begin isolation level read committed');
    await client.query(
      "update sume_jobs set status = 'processing', rank = 1 where job_id = 'job_1'",
    );
    const answered = service.deliver({ event: 'job.completed', job_id: 'job_1' });
    await untilSomebodyWaitsFor(pool, pid);
    await client.query('commit');

    expect((await answered).status).toBe(503);
    expect(service.failures).toMatchObject([{ code: '40001' }]);
    expect(await statusOf(service, 'job_1')).toBe('processing');
  });

  it('runs again after a deadlock, and the effect is still there once', async () => {
    service = await openService({
      onTerminal: async (job, tx) => {
        await recordEffect(job, tx);
        await tx.query('update accounts set credits = credits - 1');
      },
    });
    const { reconciler, pool } = service;
    await pool.query('create table effects (job_id text not null)');
    await pool.query('create table accounts as select 10 as credits');
    await reconciler.register('job_1');
    const { client, pid } = await service.outsider();
    await client.query('begin');
    await client.query('update accounts set credits = credits + 5');
    // The core holds the job and waits for the account; the outsider holds the account and will wait for
    // the job. The core has waited longer, so its look for deadlocks comes first and it is the one ended.
    const received = reconciler.receive(completed('job_1'));
    await untilSomebodyWaitsFor(pool, pid);
    await client.query("update sume_jobs set correlation_id = 'mine' where job_id = 'job_1'");
    await client.query('commit');

    expect(await received).toBe('applied');
    expect((await pool.query('select job_id from effects')).rows).toEqual([{ job_id: 'job_1' }]);
    expect((await pool.query('select credits from accounts')).rows).toEqual([{ credits: 14 }]);
  });

  it('is left to the caller when the transaction is the caller’s', async () => {
    service = await openService({ concurrency: 'serializable' });
    const { reconciler, pool } = service;
    const { client, pid } = await service.outsider();
    await client.query('begin');
    await client.query(
      `insert into sume_jobs (job_id, status, rank, created_at, updated_at)
        values ('job_1', 'queued', 0, '2026-07-01', '2026-07-01')`,
    );
    const own = await service.outsider();
    await own.client.query('begin isolation level serializable');
    const registered = reconciler.register('job_1', {}, postgresTransaction(own.client));
    await untilSomebodyWaitsFor(pool, pid);
    const [outcome] = await Promise.allSettled([registered, client.query('commit')]);

    expect(outcome).toMatchObject({ status: 'rejected', reason: { code: '40001' } });
  });
});

function completed(jobId: string) {
  const event = 'job.completed' as const;
  return {
    event,
    jobId,
    status: 'completed' as const,
    body: JSON.stringify({ event, job_id: jobId }),
  };
}

async function statusOf(service: Service, jobId: string): Promise<JobStatus | undefined> {
  const { rows } = await service.pool.query<{ status: JobStatus }>(
    'select status from sume_jobs where job_id = $1',
    [jobId],
  );
  return rows[0]?.status;
}
