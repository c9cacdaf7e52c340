import type { Pool, PoolClient } from 'pg';
import { afterEach, expect, it, onTestFinished } from 'vitest';
import {
  createReconciler,
  migrate,
  postgresDatabase,
  postgresTransaction,
} from '../../src/index.ts';
import { describePostgres, openPostgres } from '../setup/databases.ts';
import { flawless, installAudit } from './audit.ts';
import { coreContender } from './core-contender.ts';
import { jobCount, LOAD_TIMEOUT_MS, runLoad } from './load.ts';
import { recordEffect } from './record-effect.ts';
import { openService, type Service } from './service.ts';

const JOBS = jobCount(2_000);
const CONNECTIONS = 16;

describePostgres('register inside the caller’s own transaction', () => {
  let service: Service | undefined;
  afterEach(async () => {
    await service?.close();
    service = undefined;
  });

  it(
    'survives the race though the transaction stays open for a while',
    { timeout: LOAD_TIMEOUT_MS },
    async () => {
      const { pool, close } = await openPostgres({ connections: CONNECTIONS });
      onTestFinished(close);
      const database = postgresDatabase(pool);
      await migrate(database);
      const audit = await installAudit(pool);
      await pool.query('create table submissions (job_id text not null)');
      const reconciler = createReconciler({ database, onTerminal: recordEffect });

      const { jobs, outcomes } = await runLoad(
        {
          ...coreContender(reconciler),
          register: ({ id }) =>
            inOwnTransaction(pool, 'read committed', async (client) => {
              await client.query('insert into submissions (job_id) values ($1)', [id]);
              const outcome = await reconciler.register(id, {}, postgresTransaction(client));
              await client.query('select pg_sleep(0.003)');
              return outcome;
            }),
        },
        { jobs: JOBS, lanes: CONNECTIONS, seed: 5, meanwhile: audit.watch },
      );

      expect(await audit.judge(jobs)).toEqual(flawless(JOBS));
      expect(outcomes['register: registered']).toBeGreaterThan(0);
      expect(outcomes['register: reconciled']).toBeGreaterThan(0);
    },
  );

  it('happens with the rest of the transaction or not at all', async () => {
    service = await openService();
    const { pool, reconciler } = service;
    expect((await service.deliver({ event: 'job.completed', job_id: 'job_1' })).status).toBe(202);
    const failing = inOwnTransaction(pool, 'read committed', async (client) => {
      expect(await reconciler.register('job_1', {}, postgresTransaction(client))).toBe(
        'reconciled',
      );
      throw new Error('the caller changed its mind');
    });
    await expect(failing).rejects.toThrow('the caller changed its mind');

    // The job was never there, and the event still is.
    expect((await pool.query('select job_id from sume_jobs')).rows).toEqual([]);
    expect((await pool.query('select job_id from sume_parked')).rows).toEqual([
      { job_id: 'job_1' },
    ]);
    expect(await reconciler.register('job_1')).toBe('reconciled');
  });

  it('leaves the time limit for locks as the caller had set it', async () => {
    service = await openService({ lockTimeoutMs: 100 });
    const { pool, reconciler } = service;
    await service.deliver({ event: 'job.completed', job_id: 'job_1' });
    await inOwnTransaction(pool, 'read committed', async (client) => {
      await client.query("set local lock_timeout = '7s'");
      expect(await reconciler.register('job_1', {}, postgresTransaction(client))).toBe(
        'reconciled',
      );
      expect((await client.query('show lock_timeout')).rows).toEqual([{ lock_timeout: '7s' }]);
    });
  });

  it.for([
    { concurrency: 'locks', level: 'repeatable read', needed: 'read committed' },
    { concurrency: 'locks', level: 'serializable', needed: 'read committed' },
    { concurrency: 'serializable', level: 'read committed', needed: 'serializable' },
    { concurrency: 'serializable', level: 'repeatable read', needed: 'serializable' },
  ] as const)(
    'is refused at $level when the core keeps order by $concurrency',
    async ({ concurrency, level, needed }) => {
      service = await openService({ concurrency });
      const { pool, reconciler } = service;
      await inOwnTransaction(pool, level, async (client) => {
        await expect(
          reconciler.register('job_1', {}, postgresTransaction(client)),
        ).rejects.toMatchObject({
          name: 'IsolationError',
          code: 'wrong_isolation',
          found: level,
          needed,
        });
      });
      expect((await pool.query('select job_id from sume_jobs')).rows).toEqual([]);
    },
  );
});

async function inOwnTransaction<T>(
  pool: Pool,
  level: string,
  work: (client: PoolClient) => Promise<T>,
): Promise<T> {
  const client = await pool.connect();
  try {
    await client.query(`begin isolation level ${level}`);
    const outcome = await work(client);
    await client.query('commit');
    client.release();
    return outcome;
  } catch (error) {
    client.release(true); // closing the connection rolls back
    throw error;
  }
}
