import type { Database, Isolation, Queryable } from './database.ts';
import { InputError, IsolationError } from './errors.ts';
import { setLockTimeout, takeLock } from './job-lock.ts';
import { isRetryable } from './sqlstate.ts';

/**
 * How overlapping writers of one job are kept apart. `locks`: a lock per job at read committed. `serializable`:
 * no lock, everything at serializable, for databases without advisory locks. Mixing the two in one database
 * strands events, so every process must use the same.
 */
export type Concurrency = 'locks' | 'serializable';

/** The ways in which the core reaches the database. */
export interface Transactions {
  readonly concurrency: Concurrency;
  /** Runs statements that each commit by themselves, again after 40001 or 40P01. */
  autocommit<T>(work: (db: Queryable) => Promise<T>): Promise<T>;
  /** One transaction at the pinned level, again after 40001 or 40P01. */
  run<T>(work: (tx: Queryable) => Promise<T>): Promise<T>;
  /** The same, holding the job's lock (or at serializable) from the start. */
  runLocked<T>(jobId: string, work: (tx: Queryable) => Promise<T>): Promise<T>;
  /**
   * Checks the level of a caller's transaction, takes the job's lock in it, and runs work in it. Never retries.
   * Leaves the transaction's own time limit for lock waits as it was.
   */
  join<T>(tx: Queryable, jobId: string, work: () => Promise<T>): Promise<T>;
}

export function createTransactions(options: {
  database: Database;
  concurrency: Concurrency;
  lockTimeoutMs: number;
  maxAttempts: number;
}): Transactions {
  const { database, concurrency, lockTimeoutMs, maxAttempts } = options;
  const isolation: Isolation = concurrency === 'locks' ? 'read committed' : 'serializable';

  const run = <T>(work: (tx: Queryable) => Promise<T>): Promise<T> =>
    retrying(maxAttempts, () => inTransaction(database, isolation, work));

  return {
    concurrency,
    autocommit: (work) => retrying(maxAttempts, () => work(database)),
    run,
    runLocked: (jobId, work) =>
      run(async (tx) => {
        // At serializable the conflict itself is found, but a wait for another's row still needs an end.
        if (concurrency === 'locks') await takeLock(tx, jobId, lockTimeoutMs);
        else await setLockTimeout(tx, String(lockTimeoutMs));
        return work(tx);
      }),
    join: async (tx, jobId, work) => {
      if ('transaction' in tx) {
        throw new InputError(
          'register was given a database where it takes a transaction, so its statements would commit one ' +
            'by one. Pass the handle that your transaction callback received.',
        );
      }
      const { rows } = await tx.query<{ level: string; lock_timeout: string }>(
        `select current_setting('transaction_isolation') as level,
                current_setting('lock_timeout') as lock_timeout`,
      );
      const [settings] = rows;
      const level = settings?.level ?? 'unknown';
      if (level !== isolation) throw new IsolationError(level, isolation);
      if (concurrency === 'locks') await takeLock(tx, jobId, lockTimeoutMs);
      // The rest of the transaction is the caller's, and so is its time limit.
      const giveBack = (): Promise<void> => setLockTimeout(tx, settings?.lock_timeout ?? '0');
      let value;
      try {
        value = await work();
      } catch (error) {
        // What failed in SQL has ended the transaction: it takes no statement, and its rollback restores the limit.
        await giveBack().catch(() => undefined);
        throw error;
      }
      await giveBack();
      return value;
    },
  };
}

/**
 * One transaction at the level given, whatever the session's default. A database that does not pin the level
 * itself gets it as the first statement, which is the last moment that PostgreSQL takes it.
 */
export function inTransaction<T>(
  database: Database,
  isolation: Isolation,
  work: (tx: Queryable) => Promise<T>,
): Promise<T> {
  if (database.pinsIsolation === true) return database.transaction(work, { isolation });
  return database.transaction(async (tx) => {
    await tx.query(`set transaction isolation level ${isolation}`);
    return work(tx);
  });
}

/**
 * Runs work again that lost a race, at most `maxAttempts` times in all, and then lets the database's own error
 * through. At once and without a pause: PostgreSQL reports these after the winner has committed or given way.
 */
async function retrying<T>(maxAttempts: number, work: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await work();
    } catch (error) {
      if (!isRetryable(error) || attempt >= maxAttempts) throw error;
    }
  }
}
