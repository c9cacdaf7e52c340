import type { Pool } from 'pg';

/**
 * Resolves when some session waits for a lock that the session `holder` has. The waiting between two looks
 * is the server's. Throws when nobody came to wait within some ten seconds.
 */
export async function untilSomebodyWaitsFor(pool: Pool, holder: number): Promise<void> {
  for (let look = 0; look < 2_000; look += 1) {
    const { rows } = await pool.query<{ waits: boolean }>(
      `select exists (
        select from pg_stat_activity where $1 = any (pg_blocking_pids(pid))
      ) as waits from pg_sleep(0.005)`,
      [holder],
    );
    if (rows[0]?.waits === true) return;
  }
  throw new Error(`Nobody waits for session ${String(holder)}.`);
}
