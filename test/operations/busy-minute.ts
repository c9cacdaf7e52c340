import type { Pool } from 'pg';
import {
  createReconciler,
  isTerminal,
  postgresDatabase,
  systemClock as clock,
  type JobStatus,
} from '../../src/index.ts';
import type { Delivery } from '../../sim/fake-sume/delivery.ts';
import type { RequestRecord } from '../../sim/fake-sume/request-log.ts';
import type { JobTruth } from '../../sim/fake-sume/truth.ts';
import { installAudit, type Verdict } from '../postgres/audit.ts';
import { readMetrics, type MetricsPage } from './metrics-page.ts';
import type { ServiceProcess } from './service-process.ts';
import type { Stage } from './stage.ts';
import { until } from './until.ts';

export const ORDERS = 300;

/** With this pause between two orders they take 45 s. */
const PAUSE_MS = 150;

/** When the submits are held, to kill a process in the middle of some. */
const KILL_AT = 100;

/** One write, as a trigger on the table saw it. */
export interface Written {
  relation: 'jobs' | 'parked';
  op: 'INSERT' | 'UPDATE' | 'DELETE';
  jobId: string;
  oldStatus: string | null;
  newStatus: string | null;
  /** `application_name`: one for each life of a process. */
  writer: string;
}

export interface Row {
  jobId: string;
  status: JobStatus;
  result: unknown;
  correlationId: string | null;
}

/** What is left of the minute, when all is quiet. */
export interface Evidence {
  /** What Sume says of the jobs of the orders. */
  truth: JobTruth[];
  deliveries: Delivery[];
  requests: RequestRecord[];
  rows: Map<string, Row>;
  written: Written[];
  /** The judge's verdict, given how each job should have ended. */
  judge: (ends: readonly { id: string; status: string }[]) => Promise<Verdict>;
  parked: { jobId: string; receivedAt: Date }[];
  orders: Map<string, { jobId: string | null; refusal: string | null }>;
  /** How often submits were tried again, by the queue's own account. */
  retries: number;
  /** An event of this job came although nobody here ordered it. */
  foreignJob: string;
  /** A job that is registered here, and does not end. */
  endlessJob: string;
  /** The jobs whose submits were under way when the process was killed. */
  heldJobs: string[];
  /** What each process said, and when: milliseconds before and after. */
  pages: { service: ServiceProcess; page: MetricsPage; fromMs: number; toMs: number }[];
  /** What the process that was killed had said before. */
  lastPage: MetricsPage;
}

/**
 * Gives the service a minute of orders, kills one of its processes in the middle of a submit and starts it again,
 * and waits until all that Sume and the service have to do is done. Rejects with what was not reached.
 */
export async function busyMinute(stage: Stage, admin: Pool): Promise<Evidence> {
  const { sume, services } = stage;
  const audit = await installAudit(admin);
  const killed = services[1];

  const foreignJob = await sume.create(`${services[0].url}/webhooks/sume`);
  await sume.complete(foreignJob);
  const endlessJob = await sume.create();
  await createReconciler({ database: postgresDatabase(admin) }).register(endlessJob);
  const ofOrders = async (): Promise<JobTruth[]> =>
    (await sume.truth()).filter(({ jobId }) => jobId !== foreignJob && jobId !== endlessJob);

  let heldJobs: string[] = [];
  let lastPage: MetricsPage | undefined;
  const killInTheMiddle = async (): Promise<void> => {
    const hold = await sume.holdSubmits();
    // The other two cannot have more than this under way, so one of them at least is the third's.
    const most = 2 * stage.submitWorkers;
    await until('submits of every process are under way at Sume', async () => {
      heldJobs = await hold.held();
      return heldJobs.length > most ? [] : [`more than ${most} of them: ${heldJobs.length}`];
    });
    lastPage = await readMetrics(killed.url);
    await killed.kill();
    await hold.release();
    await until('a webhook met the process that is gone', async () => {
      const missed = (await sume.deliveries()).some(
        ({ url, attempts }) =>
          url.startsWith(killed.url) &&
          attempts.some((one) => one.failure?.reason === 'unreachable'),
      );
      return missed ? [] : [killed.url];
    });
    await killed.start();
  };

  const underWay: Promise<void>[] = [];
  /** What it fails with is told in the end, when all of them are awaited. */
  const begin = (work: Promise<void>): void => {
    work.catch(() => undefined);
    underWay.push(work);
  };
  for (let number = 0; number < ORDERS; number += 1) {
    begin(placeOrder(services, number));
    if (number === KILL_AT) begin(killInTheMiddle());
    await audit.watch();
    await clock.sleep(PAUSE_MS);
  }
  await Promise.all(underWay);

  await until('every order has its job', async () => {
    const { rows } = await admin.query<{ order_id: string }>(
      'select order_id from orders where job_id is null and refusal is null order by order_id',
    );
    return rows.map((row) => row.order_id);
  });
  await sume.settle(60_000);
  await until('every job that Sume ended has an end and its result in the database', async () => {
    const rows = await readRows(admin);
    return (await ofOrders())
      .filter(({ status }) => isTerminal(status))
      .flatMap(({ jobId, status }) => {
        const row = rows.get(jobId);
        if (row === undefined) return [`${jobId} is ${status} at Sume, and has no row`];
        if (!isTerminal(row.status)) {
          return [`${jobId} is ${status} at Sume, and ${row.status} in the database`];
        }
        // Where a contradiction won, there is none.
        const lacksResult = status === 'completed' && row.status === status && row.result === null;
        return lacksResult ? [`${jobId} has no result`] : [];
      });
  });
  await until('a sweep found the event that nobody ordered', async () => {
    const pages = await Promise.all(services.map(({ url }) => readMetrics(url)));
    const found = { kind: 'orphan', outcome: 'found' };
    return pages.some((page) => page.sum('sume_sweep_rows_total', found) > 0) ? [] : [foreignJob];
  });

  const pages: Evidence['pages'] = [];
  for (const service of services) {
    const fromMs = clock.now();
    pages.push({ service, page: await readMetrics(service.url), fromMs, toMs: clock.now() });
  }
  if (lastPage === undefined) throw new Error('No process was killed.');
  await admin.query('insert into effects (job_id) select job_id from outbox');
  return {
    truth: await ofOrders(),
    deliveries: await sume.deliveries(),
    requests: await sume.requests(),
    rows: await readRows(admin),
    ...(await readTables(admin)),
    judge: (ends) => audit.judge(ends),
    foreignJob,
    endlessJob,
    heldJobs,
    pages,
    lastPage,
  };
}

/** Places an order at one process, or at the next one if that is gone: the same order again is no second one. */
async function placeOrder(services: readonly ServiceProcess[], number: number): Promise<void> {
  const orderId = `order-${number}`;
  for (let turn = 0; ; turn += 1) {
    const service = services[(number + turn) % services.length];
    try {
      const response = await fetch(`${service?.url}/orders`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ orderId, script: `Hello, number ${number}.` }),
      });
      const text = await response.text();
      if (response.status === 202) return;
      throw new Error(`${orderId} was answered ${response.status}: ${text}`);
    } catch (error) {
      // What `fetch` rejects with when the connection cannot be had, or breaks.
      if (!(error instanceof TypeError) || turn === services.length) throw error;
    }
  }
}

async function readRows(admin: Pool): Promise<Map<string, Row>> {
  const { rows } = await admin.query<Row>(
    `select job_id as "jobId", status, result, correlation_id as "correlationId" from sume_jobs`,
  );
  return new Map(rows.map((row) => [row.jobId, row]));
}

async function readTables(
  admin: Pool,
): Promise<Pick<Evidence, 'written' | 'parked' | 'orders' | 'retries'>> {
  const written = await admin.query<Written>(
    `select relation, op, job_id as "jobId", old_status as "oldStatus", new_status as "newStatus", writer
     from audit order by seq`,
  );
  const parked = await admin.query<{ jobId: string; receivedAt: Date }>(
    'select job_id as "jobId", received_at as "receivedAt" from sume_parked',
  );
  const orders = await admin.query<{
    order_id: string;
    jobId: string | null;
    refusal: string | null;
  }>('select order_id, job_id as "jobId", refusal from orders');
  const retries = await admin.query<{ sum: number }>(
    `select sum(retry_count)::int as sum from pgboss.job where name = 'submit'`,
  );
  return {
    written: written.rows,
    parked: parked.rows,
    orders: new Map(orders.rows.map((row) => [row.order_id, row])),
    retries: retries.rows[0]?.sum ?? 0,
  };
}
