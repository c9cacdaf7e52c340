import { Pool } from 'pg';
import { expect, it, onTestFinished } from 'vitest';
import { createRandom } from '../../sim/engine/random.ts';
import {
  createReconciler,
  createWebhookHandler,
  migrate,
  postgresDatabase,
  type Reconciler,
} from '../../src/index.ts';
import { describePostgres, privatePostgres } from '../setup/databases.ts';
import { openSchema } from '../setup/postgres-schema.ts';
import { flawless, installAudit } from './audit.ts';
import {
  jobCount,
  LOAD_TIMEOUT_MS,
  runLoad,
  TRY_LATER,
  type Contender,
  type LoadJob,
} from './load.ts';
import { recordEffect } from './record-effect.ts';
import { signedDelivery } from './sign.ts';

const JOBS = jobCount(2_000);
const CONNECTIONS = 16;
const SECRET = 'whsec_test';
const NOW = Date.UTC(2026, 6, 1);
const APPLICATION = 'under_test';

describePostgres('connections die at random, and the server crashes once', () => {
  it(
    'what was answered 2xx is there afterwards; the rest is answered 503 and lands later',
    { timeout: LOAD_TIMEOUT_MS },
    async (test) => {
      // Not the server of this run: other suites use that.
      const server = await privatePostgres(test);
      onTestFinished(server.stop);
      const { pool, url, close } = await openSchema(server.url, {
        connections: CONNECTIONS,
        settings: [`application_name=${APPLICATION}`],
      });
      onTestFinished(close);
      const admin = new Pool({ connectionString: url, max: 1, application_name: 'admin' });
      onTestFinished(() => admin.end());
      admin.on('error', () => undefined); // it dies with the server while idle, and is replaced
      const database = postgresDatabase(pool);
      await migrate(database);
      const audit = await installAudit(admin);
      const reconciler = createReconciler({ database, onTerminal: recordEffect });
      const acknowledged = new Set<string>();

      const random = createRandom(3);
      let terminated = 0;
      let crashes = 0;
      let missing: string[] = [];
      const disturb = async (callsMade: number): Promise<void> => {
        if (crashes === 0 && callsMade >= (JOBS * 5) / 2) {
          crashes += 1;
          await server.restart();
          missing = missing.concat(await notThere(admin, [...acknowledged]));
          return;
        }
        const { rows } = await admin.query<{ pid: number }>(
          'select pid from pg_stat_activity where application_name = $1 order by pid',
          [APPLICATION],
        );
        if (rows.length === 0) return;
        await admin.query('select pg_terminate_backend($1)', [random.pick(rows).pid]);
        terminated += 1;
      };
      // The lanes disturb one after the other: nobody looks for a backend while the server is down.
      let disturbance = Promise.resolve();

      const { jobs, outcomes } = await runLoad(throughWebhook(reconciler, acknowledged), {
        jobs: JOBS,
        lanes: CONNECTIONS,
        seed: 4,
        everyCalls: 100,
        meanwhile: (callsMade) => {
          disturbance = disturbance.then(() => disturb(callsMade));
          return disturbance;
        },
      });

      expect(missing).toEqual([]);
      expect(await notThere(admin, [...acknowledged])).toEqual([]);
      expect(await audit.judge(jobs)).toEqual(flawless(JOBS));
      expect(acknowledged.size).toBe(JOBS);
      // None of this is worth much unless calls did fail.
      expect(crashes).toBe(1);
      expect(terminated).toBeGreaterThan(10);
      expect(outcomes[`receive: ${TRY_LATER}`]).toBeGreaterThan(0);
      expect(outcomes[`register: ${TRY_LATER}`]).toBeGreaterThan(0);
    },
  );
});

/** Deliveries as Sume makes them, until a 2xx; and a submit worker that tries again when it fails. */
function throughWebhook(reconciler: Reconciler, acknowledged: Set<string>): Contender {
  const handle = createWebhookHandler({
    reconciler,
    secrets: SECRET,
    onError: () => undefined, // hundreds, and all of them on purpose
    clock: { now: () => NOW, sleep: () => Promise.reject(new Error('nothing here waits')) },
  });
  const receive = async (job: LoadJob): Promise<string> => {
    // A 2xx ends Sume's deliveries, so a stored event that was lost would not be made good by a second one.
    if (acknowledged.has(job.id)) return 'not sent again';
    const response = await handle(signedDelivery(job.event.body, SECRET, NOW));
    if (response.status === 503) {
      expect(response.headers.get('retry-after')).toBe('30');
      return TRY_LATER;
    }
    expect([200, 202]).toContain(response.status);
    acknowledged.add(job.id);
    return 'acknowledged';
  };
  return {
    receive,
    // Whatever the failure was: it may have happened before or after the commit, and is safe to repeat.
    register: (job) => reconciler.register(job.id).catch(() => TRY_LATER),
    advance: (job, status) =>
      reconciler
        .advance(job.id, status, { insert: job.pollsInsert })
        .catch(() => 'failed; the next poll sees it again'),
  };
}

/** The jobs among these of which no end is stored, neither as a row nor parked. */
async function notThere(admin: Pool, jobIds: string[]): Promise<string[]> {
  const { rows } = await admin.query<{ job_id: string }>(
    `select job_id from unnest($1::text[]) as t (job_id)
      where not exists (
        select from sume_jobs j where j.job_id = t.job_id and audit_rank(j.status) = 2)
      and not exists (select from sume_parked p where p.job_id = t.job_id)
      order by job_id`,
    [jobIds],
  );
  return rows.map((row) => row.job_id);
}
