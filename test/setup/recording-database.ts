import type { Database } from '../../src/database.ts';
import { createReconciler, type Reconciler, type ReconcilerOptions } from '../../src/reconciler.ts';
import { manualClock } from './manual-clock.ts';

/**
 * A database of strings: it writes down what it is asked in the shape in which it is asked, and answers each
 * statement with what `answer` makes of it.
 */
export function recordingDatabase(
  answer: (sql: string) => object[],
  pinsIsolation: boolean = false,
): { database: Database; log: string[] } {
  const log: string[] = [];
  const run = (sql: string): Promise<{ rows: never[]; affectedRows: number }> => {
    const words = sql.replace(/\s+/g, ' ').trim();
    log.push(words.split(' ').slice(0, 3).join(' '));
    return Promise.resolve().then(() => {
      const rows = answer(words) as never[];
      return { rows, affectedRows: rows.length };
    });
  };
  const database: Database = {
    query: (sql) => run(sql),
    transaction: async (work, options) => {
      log.push(`begin ${options?.isolation ?? ''}`.trim());
      try {
        const value = await work({ query: (sql) => run(sql) });
        log.push('commit');
        return value;
      } catch (error) {
        log.push('rollback');
        throw error;
      }
    },
    ...(pinsIsolation ? { pinsIsolation: true as const } : {}),
  };
  return { database, log };
}

/** A reconciler over it, on a clock that stands still. */
export function reconcilerOn(
  database: Database,
  options: Partial<ReconcilerOptions> = {},
): Reconciler {
  return createReconciler({ database, clock: manualClock(), ...options });
}

/** Answers every update with one row, after it has failed some times with a SQLSTATE. */
export function updatesFailing(code: string, times: number): (sql: string) => object[] {
  let left = times;
  return (sql) => {
    if (sql.startsWith('update') && left > 0) {
      left -= 1;
      throw Object.assign(new Error('lost'), { code });
    }
    return sql.startsWith('update') ? [{ correlation_id: null }] : [];
  };
}
