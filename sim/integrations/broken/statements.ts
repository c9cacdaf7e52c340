import type { Queryable, TerminalEvent } from '../../../src/index.ts';

/** Statements that published integrations write by hand. What is wrong is how they are put together. */

const RANK: Readonly<Record<string, number>> = { queued: 0, processing: 1 };

/** What is written of a job's news. */
export interface JobNews {
  jobId: string;
  status: string;
  result?: unknown;
}

export async function insertJob(
  on: Queryable,
  jobId: string,
  correlationId: string | null,
  at: Date,
): Promise<void> {
  await on.query(
    `insert into sume_jobs (job_id, status, rank, correlation_id, created_at, updated_at)
     values ($1, 'queued', 0, $2, $3, $3) on conflict (job_id) do nothing`,
    [jobId, correlationId, at],
  );
}

/** Writes the status, whatever the row says. The number of rows written. */
export async function overwriteJob(on: Queryable, news: JobNews, at: Date): Promise<number> {
  const { affectedRows } = await on.query(
    `update sume_jobs set status = $2, rank = $3, result = coalesce($4::jsonb, result), updated_at = $5
     where job_id = $1`,
    [...values(news), at],
  );
  return affectedRows ?? 0;
}

/** Writes the status unless the row has ended. The number of rows written. */
export async function updateJob(on: Queryable, news: JobNews, at: Date): Promise<number> {
  const { affectedRows } = await on.query(
    `update sume_jobs set status = $2, rank = $3, result = $4::jsonb, updated_at = $5
     where job_id = $1 and rank < $3`,
    [...values(news), at],
  );
  return affectedRows ?? 0;
}

export async function jobExists(on: Queryable, jobId: string): Promise<boolean> {
  const { rows } = await on.query('select job_id from sume_jobs where job_id = $1', [jobId]);
  return rows.length > 0;
}

export async function parkEvent(on: Queryable, event: TerminalEvent, at: Date): Promise<void> {
  await on.query(
    `insert into sume_parked (job_id, event, status, body, received_at, deliveries)
     values ($1, $2, $3, $4, $5, 1)
     on conflict (job_id) do update set deliveries = sume_parked.deliveries + 1`,
    [event.jobId, event.event, event.status, event.body, at],
  );
}

/** The parked event of a job, as news, if one is there. */
export async function findParked(on: Queryable, jobId: string): Promise<JobNews | null> {
  const { rows } = await on.query<{ status: string; body: string }>(
    'select status, body from sume_parked where job_id = $1',
    [jobId],
  );
  const [row] = rows;
  if (row === undefined) return null;
  const { payload } = JSON.parse(row.body) as { payload?: unknown };
  return { jobId, status: row.status, result: row.status === 'completed' ? payload : undefined };
}

export async function deleteParked(on: Queryable, jobId: string): Promise<void> {
  await on.query('delete from sume_parked where job_id = $1', [jobId]);
}

function values({ jobId, status, result }: JobNews): unknown[] {
  return [
    jobId,
    status,
    RANK[status] ?? 2,
    result === undefined || result === null ? null : JSON.stringify(result),
  ];
}
