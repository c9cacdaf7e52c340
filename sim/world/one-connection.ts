import type { QueryResult } from '../../src/database.ts';
import type { Effect, FaultyCall } from '../engine/call.ts';
import type { Engine } from '../engine/engine.ts';
import type { Process, Task } from '../engine/task.ts';
import type { Connection } from './connection.ts';
import { countRows, describeStatement, isRead, readsTables, reasonOf } from './statement.ts';

/** What a broken connection throws. The code is PostgreSQL's `connection_failure`. */
export class InjectedDatabaseError extends Error {
  override readonly name = 'InjectedDatabaseError';
  readonly code = '08006';
}

/**
 * The one connection, which tasks take in turns: an autocommit statement is one step, and whoever has a
 * transaction open holds it, so that every other step on the database has to wait, as with a pool of one.
 */
export interface OneConnection {
  readonly connection: Connection;
  /** Whose transaction is open. */
  holder: Task | null;
  readonly isFree: () => boolean;
  /** Notes which rows the statement under way is about. */
  readonly touchRows: (sql: string, params: readonly unknown[]) => void;
  /** An autocommit statement, as a step of the calling task. */
  autocommit<Result extends QueryResult<unknown>>(
    sql: string,
    params: readonly unknown[],
    run: () => Result,
  ): Promise<Result>;
  /** Rolls back what the process has open, as the server does when a client is gone. */
  rollbackOf(process: Process): void;
}

/** @param seesEveryWrite whether the checker learns of each row that is written, in whatever table. */
export function createOneConnection(
  engine: Engine,
  connection: Connection,
  isJob: (value: unknown) => boolean,
  seesEveryWrite: boolean,
): OneConnection {
  const shared: OneConnection = {
    connection,
    holder: null,
    isFree: () => shared.holder === null,

    touchRows: (sql, params) => {
      if (!readsTables(sql)) return;
      const named = params.filter((value): value is string => isJob(value));
      // One that names no job looks at every row. What a statement writes is known only afterwards: an update
      // guarded by a condition that does not hold, an insert that meets its conflict, a transaction that is rolled
      // back have only looked. So where the checker learns of each row that is written, its view tells; what
      // that does not show (a table of seen deliveries, say) counts as written by every statement that could.
      const how = seesEveryWrite || isRead(sql) ? 'read' : 'write';
      if (named.length === 0) engine.touch('row:*', 'read');
      if (named.length === 0 && how === 'write') engine.touch('row:*', 'write');
      for (const jobId of named) engine.touch(`row:${jobId}`, how);
    },

    autocommit: <Result extends QueryResult<unknown>>(
      sql: string,
      params: readonly unknown[],
      run: () => Result,
    ) => {
      const name = describeStatement(sql);
      const perform = (): Effect<Result> => {
        shared.touchRows(sql, params);
        try {
          const value = run();
          return { text: `${name}: ${countRows(value)}`, value };
        } catch (error) {
          // The integration's own statement failed: it gets the error, and the trace names it.
          return { text: `${name} fails: ${reasonOf(error)}`, error };
        }
      };
      const faults: FaultyCall<Result>[] = [
        {
          fault: 'error-before-commit',
          perform: () => broken(`${name}: the connection breaks, nothing is written`),
        },
      ];
      if (!isRead(sql)) {
        faults.push({
          fault: 'error-after-commit',
          perform: () => {
            const effect = perform();
            return 'error' in effect
              ? effect
              : broken(`${effect.text}, committed; then the connection breaks`);
          },
        });
      }
      return engine.step<Result>({
        name,
        kind: 'statement',
        perform,
        faults,
        enabled: shared.isFree,
      });
    },

    rollbackOf: (process) => {
      if (shared.holder?.process !== process) return;
      shared.holder = null;
      connection.rollback();
    },
  };
  return shared;
}

function broken(text: string): Effect<never> {
  return { text, error: new InjectedDatabaseError('The connection to the database broke.') };
}
