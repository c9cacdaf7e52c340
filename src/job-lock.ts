import type { Queryable } from './database.ts';

/** Keeps the keys apart from other uses of advisory locks in the same database ("SUME" in ASCII). */
const SEED = 0x53_55_4d_45;

/**
 * Takes the lock of `key` until the transaction ends, waiting at most `timeoutMs` (then SQLSTATE 55P03).
 *
 * It is a statement of its own, before any look: at read committed each statement has its own snapshot, so
 * the next one sees what the previous holder committed. The time limit rides in the same statement; CASE is
 * what PostgreSQL promises to evaluate in order. Two keys with one hash only wait for each other.
 */
export async function takeLock(tx: Queryable, key: string, timeoutMs: number): Promise<void> {
  await tx.query(
    `select case when set_config('lock_timeout', $2, true) is not null
       then pg_advisory_xact_lock(hashtextextended($1, ${SEED}))::text end`,
    [key, String(timeoutMs)],
  );
}

/** Sets the time limit for lock waits of the rest of the transaction, in PostgreSQL's spelling (`5000`, `5s`). */
export async function setLockTimeout(tx: Queryable, limit: string): Promise<void> {
  await tx.query(`select set_config('lock_timeout', $1, true)`, [limit]);
}
