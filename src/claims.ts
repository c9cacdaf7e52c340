import type { Queryable } from './database.ts';

/** Moments in ISO 8601, from the clock. */
export interface Due {
  now: string;
  /** Rows checked at or before this are due again. */
  recheckBefore: string;
  limit: number;
}

/**
 * How sweepers share the work. A claim stamps `checked_at` and commits before Sume is asked, so that no
 * transaction is open meanwhile; `skip locked` sends sweepers that overlap to different rows.
 */
export interface Claims {
  /** Claims open rows that were last raised at or before `staleBefore`; the oldest first. */
  stale(db: Queryable, due: Due & { staleBefore: string }): Promise<string[]>;
  /** Claims completed rows that have neither result nor raw text; the oldest first. */
  resultless(db: Queryable, due: Due): Promise<string[]>;
  /** Gives back claims made at `claimedAt`: the rows are due again as if checked at `checkedAt` (null: at once). */
  giveBack(
    db: Queryable,
    jobIds: readonly string[],
    claimedAt: string,
    checkedAt: string | null,
  ): Promise<void>;
}

export function createClaims(table: string, lockTimeoutMs: number): Claims {
  // array(…) is evaluated once; in an IN the planner may run the subselect, limit and all, for each row.
  const claim = (due: string, order: string): string => `update ${table}
    set checked_at = $1::timestamptz
    where job_id = any(array(
      select job_id from ${table}
      where ${due} and (checked_at is null or checked_at <= $2::timestamptz)
      order by ${order}, job_id limit $3
      for update skip locked))
    returning job_id, ${order} as since`;
  const stale = claim(`rank < 2 and updated_at <= $4::timestamptz`, 'updated_at');
  const resultless = claim(
    `status = 'completed' and result is null and body is null`,
    'terminal_at',
  );
  const giveBack = `update ${table} set checked_at = $3::timestamptz
    where job_id = any($1::text[]) and checked_at = $2::timestamptz
      and set_config('lock_timeout', $4, true) is not null`;

  return {
    stale: async (db, { now, recheckBefore, limit, staleBefore }) => {
      const { rows } = await db.query<Claimed>(stale, [now, recheckBefore, limit, staleBefore]);
      return inOrder(rows);
    },
    resultless: async (db, { now, recheckBefore, limit }) => {
      const { rows } = await db.query<Claimed>(resultless, [now, recheckBefore, limit]);
      return inOrder(rows);
    },
    giveBack: async (db, jobIds, claimedAt, checkedAt) => {
      if (jobIds.length === 0) return;
      await db.query(giveBack, [jobIds, claimedAt, checkedAt, String(lockTimeoutMs)]);
    },
  };
}

interface Claimed {
  job_id: string;
  since: Date | string | null;
}

/** RETURNING has no order of its own. */
function inOrder(rows: Claimed[]): string[] {
  const keyed = rows.map(({ job_id: jobId, since }) => ({
    jobId,
    since: since === null ? 0 : new Date(since).getTime(),
  }));
  keyed.sort((a, b) => a.since - b.since || (a.jobId < b.jobId ? -1 : 1));
  return keyed.map(({ jobId }) => jobId);
}
