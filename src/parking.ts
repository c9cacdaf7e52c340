import type { Queryable } from './database.ts';
import type { TerminalEvent } from './event.ts';
import type { TerminalStatus } from './status.ts';

/** An event that waits for its job. */
export interface ParkedEvent {
  jobId: string;
  event: string;
  status: TerminalStatus;
  /** When the first delivery was parked. */
  receivedAt: Date;
  /** How many deliveries came, the first included. */
  deliveries: number;
}

/** What is waiting: what to alert on. */
export interface ParkedReport {
  count: number;
  /** Age of the oldest, in milliseconds; null when nothing waits. More than a few minutes is an orphan. */
  oldestAgeMs: number | null;
  /** The oldest first. */
  rows: ParkedEvent[];
}

/** What a drain takes out of the table: `body` is the raw text as signed. */
export interface Unparked {
  event: string;
  status: TerminalStatus;
  body: string;
}

/** The statements on the table of parked events. */
export interface Parking {
  /** Stores the event. A second one for the same job never replaces the first; it is counted. */
  park(tx: Queryable, event: TerminalEvent, at: string): Promise<void>;
  /** Whether an event waits for the job. */
  holds(tx: Queryable, jobId: string): Promise<boolean>;
  /** Takes the job's event out, or returns null. */
  unpark(tx: Queryable, jobId: string): Promise<Unparked | null>;
  /** Lets an event go. False when none is parked. */
  dismiss(db: Queryable, jobId: string): Promise<boolean>;
  count(db: Queryable): Promise<{ count: number; oldest: Date | null }>;
  list(db: Queryable, limit: number): Promise<ParkedEvent[]>;
  /** Events parked at or before a moment (ISO 8601), whose job is not there; the oldest first. */
  orphans(db: Queryable, before: string, limit: number): Promise<ParkedEvent[]>;
  /** Ids that are parked although their job is there; the oldest first. */
  leftovers(db: Queryable, limit: number): Promise<string[]>;
}

export function createParking(names: { jobs: string; parked: string }): Parking {
  const { jobs, parked } = names;

  const park = `insert into ${parked} (job_id, event, status, body, received_at, deliveries)
    values ($1, $2, $3, $4, $5::timestamptz, 1)
    on conflict (job_id) do update set deliveries = ${parked}.deliveries + 1`;
  const holds = `select job_id from ${parked} where job_id = $1`;
  const unpark = `delete from ${parked} where job_id = $1 returning event, status, body`;
  const dismiss = `delete from ${parked} where job_id = $1 returning job_id`;
  const count = `select count(*)::int as count, min(received_at) as oldest from ${parked}`;
  const list = `select job_id, event, status, received_at, deliveries from ${parked}
    order by received_at, job_id limit $1`;
  const orphans = `select job_id, event, status, received_at, deliveries from ${parked} p
    where received_at <= $1::timestamptz
      and not exists (select 1 from ${jobs} j where j.job_id = p.job_id)
    order by received_at, job_id limit $2`;
  const leftovers = `select p.job_id from ${parked} p
    where exists (select 1 from ${jobs} j where j.job_id = p.job_id)
    order by p.received_at, p.job_id limit $1`;

  return {
    park: async (tx, event, at) => {
      await tx.query(park, [event.jobId, event.event, event.status, event.body, at]);
    },
    holds: async (tx, jobId) => {
      const { rows } = await tx.query(holds, [jobId]);
      return rows.length > 0;
    },
    unpark: async (tx, jobId) => {
      const { rows } = await tx.query<Unparked>(unpark, [jobId]);
      return rows[0] ?? null;
    },
    dismiss: async (db, jobId) => {
      const { rows } = await db.query(dismiss, [jobId]);
      return rows.length > 0;
    },
    count: async (db) => {
      const { rows } = await db.query<{ count: number; oldest: Date | string | null }>(count);
      const oldest = rows[0]?.oldest ?? null;
      return { count: rows[0]?.count ?? 0, oldest: oldest === null ? null : new Date(oldest) };
    },
    list: async (db, limit) => {
      const { rows } = await db.query<ParkedRow>(list, [limit]);
      return rows.map(parkedEventOf);
    },
    orphans: async (db, before, limit) => {
      const { rows } = await db.query<ParkedRow>(orphans, [before, limit]);
      return rows.map(parkedEventOf);
    },
    leftovers: async (db, limit) => {
      const { rows } = await db.query<{ job_id: string }>(leftovers, [limit]);
      return rows.map((row) => row.job_id);
    },
  };
}

interface ParkedRow {
  job_id: string;
  event: string;
  status: TerminalStatus;
  received_at: Date | string;
  deliveries: number;
}

function parkedEventOf(row: ParkedRow): ParkedEvent {
  return {
    jobId: row.job_id,
    event: row.event,
    status: row.status,
    receivedAt: new Date(row.received_at),
    deliveries: row.deliveries,
  };
}
