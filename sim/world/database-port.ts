import type { Database, Queryable, QueryResult, TransactionOptions } from '../../src/database.ts';
import type { Effect, FaultyCall } from '../engine/call.ts';
import type { Engine } from '../engine/engine.ts';
import { EVERYTHING } from '../engine/footprint.ts';
import type { Process, Task } from '../engine/task.ts';
import type { Connection } from './connection.ts';
import { countRows, describeStatement, isRead, readsTables, reasonOf } from './statement.ts';

/** What a broken connection throws. The code is PostgreSQL's `connection_failure`. */
export class InjectedDatabaseError extends Error {
  override readonly name = 'InjectedDatabaseError';
  readonly code = '08006';
}

/** The transaction that holds the one connection while its body waits for something else. */
interface OpenTransaction {
  task: Task;
}

/**
 * The database as a process of the integration sees it: an autocommit statement is one step, a transaction
 * is one step. Where a transaction's body waits for another port (a request made inside it), the
 * connection stays taken and every other step on the database has to wait, as a pool of one would make it.
 */
export function createDatabasePorts(
  engine: Engine,
  connection: Connection,
  isJob: (value: unknown) => boolean,
): { port: Database; rollbackOf: (process: Process) => void } {
  let open: OpenTransaction | null = null;
  const isFree = (): boolean => open === null;

  /**
   * The rows of the jobs that the statement names. One that names none looks at every row; those that it
   * changed, the audit tells.
   */
  const touchRows = (sql: string, params: unknown[] | undefined): void => {
    if (!readsTables(sql)) return;
    const named = (params ?? []).filter((value): value is string => isJob(value));
    if (named.length === 0) engine.touch('row:*', 'read');
    for (const jobId of named) engine.touch(`row:${jobId}`, isRead(sql) ? 'read' : 'write');
  };

  const statement = async <Row extends object>(
    sql: string,
    params: unknown[] | undefined,
  ): Promise<QueryResult<Row>> => {
    const name = describeStatement(sql);
    const perform = (): Effect<QueryResult<Row>> => {
      touchRows(sql, params);
      try {
        const value = connection.query<Row>(sql, params);
        return { text: `${name}: ${countRows(value)}`, value };
      } catch (error) {
        // The integration's own statement failed: it gets the error, and the trace names it.
        return { text: `${name} fails: ${reasonOf(error)}`, error };
      }
    };
    const faults: FaultyCall<QueryResult<Row>>[] = [
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
    return engine.step({ name, kind: 'statement', perform, faults, enabled: isFree });
  };

  const transaction = async <T>(
    work: (tx: Queryable) => Promise<T>,
    options: TransactionOptions | undefined,
  ): Promise<T> => {
    const task = engine.currentTask();
    const run = async (
      fault: 'error-before-commit' | 'error-after-commit' | null,
    ): Promise<Effect<T>> => {
      const statements: string[] = [];
      const tx = transactionHandle(connection, statements, touchRows);
      connection.begin(options?.isolation ?? null);
      open = { task };
      let end: string | null = null;
      const done = (async (): Promise<T> => {
        let value: T;
        try {
          value = await engine.inside(task, 'transaction', () => work(tx.handle));
        } catch (error) {
          tx.close();
          connection.rollback();
          open = null;
          end = `rolled back: ${reasonOf(error)}`;
          throw error;
        }
        tx.close();
        if (fault === 'error-before-commit') {
          connection.rollback();
          open = null;
          end = 'the connection breaks before the commit';
          throw new InjectedDatabaseError('The connection broke before the commit.');
        }
        const committed = connection.commit();
        open = null;
        if (!committed) {
          end = 'rolled back: a statement had failed';
          throw Object.assign(new Error('The transaction had failed, and COMMIT rolled it back.'), {
            code: '25P02',
          });
        }
        if (fault === 'error-after-commit') {
          end = 'committed; then the connection breaks';
          throw new InjectedDatabaseError('The connection broke after the commit.');
        }
        end = 'committed';
        return value;
      })();
      done.catch(() => {
        // The task that awaits it handles it; until then it must not count as unhandled.
      });
      await engine.quiet.settled();
      // Read through a function: the compiler does not see that the body above has run meanwhile.
      const ended = ((): string | null => end)();
      // Left open it holds the only connection, whoever else wants it.
      if (ended === null) engine.touch(EVERYTHING, 'write');
      const text = [...statements, ended ?? 'left open, waiting'].join(', ');
      // A promise as the value: the step settles with it, whenever that is.
      return { text: `transaction: ${text}`, value: done as unknown as T };
    };
    return engine.step({
      name: 'transaction',
      kind: 'transaction',
      enabled: isFree,
      perform: () => run(null),
      faults: [
        { fault: 'error-before-commit', perform: () => run('error-before-commit') },
        { fault: 'error-after-commit', perform: () => run('error-after-commit') },
      ],
    });
  };

  return {
    port: {
      pinsIsolation: true,
      query: (sql, params) => {
        engine.refuseInside(`query("${describeStatement(sql)}")`);
        return statement(sql, params);
      },
      transaction: (work, options) => {
        engine.refuseInside('transaction()');
        return transaction(work, options);
      },
    },
    rollbackOf: (process) => {
      if (open === null || open.task.process !== process) return;
      open = null;
      connection.rollback();
    },
  };
}

function transactionHandle(
  connection: Connection,
  statements: string[],
  touchRows: (sql: string, params: unknown[] | undefined) => void,
): { handle: Queryable; close: () => void } {
  let closed = false;
  return {
    close: () => {
      closed = true;
    },
    handle: {
      query: async (sql, params) => {
        const name = describeStatement(sql);
        if (closed) {
          throw new Error(
            `"${name}" came after its transaction had ended. Await every statement before the body returns.`,
          );
        }
        touchRows(sql, params);
        try {
          const result = connection.query<never>(sql, params);
          statements.push(`${name} (${countRows(result)})`);
          return result;
        } catch (error) {
          statements.push(`${name} fails`);
          throw error;
        }
      },
    },
  };
}

function broken(text: string): Effect<never> {
  return { text, error: new InjectedDatabaseError('The connection to the database broke.') };
}
