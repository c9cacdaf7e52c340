import type { Queryable } from './database.ts';
import { InputError } from './errors.ts';
import type { News } from './news.ts';
import { carrying } from './refused-payload.ts';
import type { JobStatus, Rank } from './status.ts';

/** One job, as the table holds it. */
export interface Job {
  jobId: string;
  status: JobStatus;
  rank: Rank;
  /** `{ artifacts: [ … ] }` of a completed job; null until known, or where `jsonb` refused it (see `body`). */
  result: unknown;
  /** `{ code, message }` of a job that did not complete, where it was told. */
  error: unknown;
  /** The webhook's raw text, or the raw answer whose result `jsonb` refused. */
  body: string | null;
  /** Your own id, beside Sume's. */
  correlationId: string | null;
  createdAt: Date;
  /** When the rank was last raised. */
  updatedAt: Date;
  terminalAt: Date | null;
  /** When a sweeper last took the row up; reckoned so that it is due no earlier than Sume asked for. */
  checkedAt: Date | null;
}

/** What a write that changed nothing asks next. */
export interface Standing {
  status: JobStatus;
  rank: Rank;
  lacksResult: boolean;
  lacksError: boolean;
  lacksBody: boolean;
}

/** The statements on the jobs table. Each takes the handle to run on: the database, or a transaction. */
export interface Jobs {
  /** The guarded update: raises the row's rank to the news', or returns false and changes nothing. */
  raise(db: Queryable, news: News): Promise<boolean>;
  /**
   * The same for news of an end, for whoever needs the row's correlation id. RETURNING alone costs a tenth of
   * the statement.
   */
  endReturning(db: Queryable, news: News): Promise<{ correlationId: string | null } | null>;
  /** Fills a null result, error or body of a row that ended with the same status. Never a second time. */
  fill(db: Queryable, news: News): Promise<void>;
  look(db: Queryable, jobId: string): Promise<Standing | null>;
  /** Inserts the job as queued. False when it is there already. */
  insert(
    db: Queryable,
    job: { jobId: string; correlationId: string | null; at: string },
  ): Promise<boolean>;
  /** Sets the correlation id of a row that has none. */
  correlate(db: Queryable, jobId: string, correlationId: string): Promise<void>;
  read(db: Queryable, jobId: string): Promise<Job | null>;
}

/**
 * Every update ends its wait for another writer's row after `lockTimeoutMs`. The setting rides in the WHERE
 * clause, where it is evaluated for the row that was found and before that row is locked: an autocommit
 * statement has no other place for it, and a statement of its own would double the cost of the common case.
 */
export function createJobs(table: string, lockTimeoutMs: number): Jobs {
  const inTime = `set_config('lock_timeout', '${lockTimeoutMs}', true) is not null`;

  // `text` first: drivers that see a jsonb parameter may serialise the string once more.
  const end = `update ${table}
    set status = $2, rank = 2, result = $3::text::jsonb, error = $4::text::jsonb, body = $5,
        updated_at = $6::timestamptz, terminal_at = $6::timestamptz
    where job_id = $1 and rank < 2 and ${inTime}`;
  const endReturning = `${end} returning correlation_id`;
  const progress = `update ${table} set status = $2, rank = 1, updated_at = $3::timestamptz
    where job_id = $1 and rank < 1 and ${inTime}`;
  const fill = `update ${table}
    set result = coalesce(result, $3::text::jsonb), error = coalesce(error, $4::text::jsonb),
        body = coalesce(body, $5)
    where job_id = $1 and status = $2 and rank = 2
      and ((result is null and $3::text is not null)
        or (error is null and $4::text is not null)
        or (result is null and error is null and body is null and $5::text is not null))
      and ${inTime}`;
  const look = `select status, rank, result is null as lacks_result, error is null as lacks_error,
      body is null as lacks_body
    from ${table} where job_id = $1`;
  const insert = `insert into ${table} (job_id, status, rank, correlation_id, created_at, updated_at)
    values ($1, 'queued', 0, $2, $3::timestamptz, $3::timestamptz)
    on conflict (job_id) do nothing
    returning job_id`;
  const correlate = `update ${table} set correlation_id = $2
    where job_id = $1 and correlation_id is null and ${inTime}`;
  const read = `select job_id, status, rank, result, error, body, correlation_id,
      created_at, updated_at, terminal_at, checked_at
    from ${table} where job_id = $1`;

  return {
    raise: async (db, news) => {
      const { affectedRows } =
        news.rank === 2
          ? await carrying(() => db.query(end, endParams(news)))
          : await db.query(progress, [news.jobId, news.status, news.at]);
      if (affectedRows === undefined) {
        throw new InputError(
          'The database tells no affectedRows for an update, so whether a job moved cannot be told. ' +
            'Have query() return { rows, affectedRows }, as PGlite and postgresDatabase do.',
        );
      }
      return affectedRows > 0;
    },
    endReturning: async (db, news) => {
      const { rows } = await carrying(() =>
        db.query<{ correlation_id: string | null }>(endReturning, endParams(news)),
      );
      const [row] = rows;
      return row === undefined ? null : { correlationId: row.correlation_id };
    },
    fill: async (db, news) => {
      await carrying(() =>
        db.query(fill, [news.jobId, news.status, news.result, news.error, news.body]),
      );
    },
    look: async (db, jobId) => {
      const { rows } = await db.query<{
        status: JobStatus;
        rank: Rank;
        lacks_result: boolean;
        lacks_error: boolean;
        lacks_body: boolean;
      }>(look, [jobId]);
      const [row] = rows;
      if (row === undefined) return null;
      return {
        status: row.status,
        rank: row.rank,
        lacksResult: row.lacks_result,
        lacksError: row.lacks_error,
        lacksBody: row.lacks_body,
      };
    },
    insert: async (db, job) => {
      const { rows } = await db.query(insert, [job.jobId, job.correlationId, job.at]);
      return rows.length > 0;
    },
    correlate: async (db, jobId, correlationId) => {
      await db.query(correlate, [jobId, correlationId]);
    },
    read: async (db, jobId) => {
      const { rows } = await db.query<JobRow>(read, [jobId]);
      const [row] = rows;
      return row === undefined ? null : jobOf(row);
    },
  };
}

function endParams(news: News): unknown[] {
  return [news.jobId, news.status, news.result, news.error, news.body, news.at];
}

interface JobRow {
  job_id: string;
  status: JobStatus;
  rank: Rank;
  result: unknown;
  error: unknown;
  body: string | null;
  correlation_id: string | null;
  created_at: Date | string;
  updated_at: Date | string;
  terminal_at: Date | string | null;
  checked_at: Date | string | null;
}

function jobOf(row: JobRow): Job {
  return {
    jobId: row.job_id,
    status: row.status,
    rank: row.rank,
    result: row.result,
    error: row.error,
    body: row.body,
    correlationId: row.correlation_id,
    createdAt: new Date(row.created_at),
    updatedAt: new Date(row.updated_at),
    terminalAt: row.terminal_at === null ? null : new Date(row.terminal_at),
    checkedAt: row.checked_at === null ? null : new Date(row.checked_at),
  };
}
