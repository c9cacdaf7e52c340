import type { Database, Queryable, TransactionOptions } from '../../src/database.ts';
import type { Effect } from '../engine/call.ts';
import type { Engine } from '../engine/engine.ts';
import { EVERYTHING } from '../engine/footprint.ts';
import { InjectedDatabaseError, type OneConnection } from './one-connection.ts';
import { countRows, describeStatement, reasonOf } from './statement.ts';

/**
 * The database as a process of the integration sees it: an autocommit statement is one step, a transaction
 * is one step. Where a transaction's body waits for another port (a request made inside it), the
 * connection stays taken.
 */
export function createDatabasePort(engine: Engine, shared: OneConnection): Database {
  const { connection } = shared;

  const transaction = async <T>(
    work: (tx: Queryable) => Promise<T>,
    options: TransactionOptions | undefined,
  ): Promise<T> => {
    const task = engine.currentTask();
    const run = async (
      fault: 'error-before-commit' | 'error-after-commit' | null,
    ): Promise<Effect<T>> => {
      const statements: string[] = [];
      const tx = transactionHandle(shared, statements);
      const isolation = options?.isolation;
      connection.begin(isolation === undefined ? 'begin' : `begin isolation level ${isolation}`);
      shared.holder = task;
      let end: string | null = null;
      const done = (async (): Promise<T> => {
        let value: T;
        try {
          value = await engine.inside(task, 'transaction', () => work(tx.handle));
        } catch (error) {
          tx.close();
          connection.rollback();
          shared.holder = null;
          end = `rolled back: ${reasonOf(error)}`;
          throw error;
        }
        tx.close();
        if (fault === 'error-before-commit') {
          connection.rollback();
          shared.holder = null;
          end = 'the connection breaks before the commit';
          throw new InjectedDatabaseError('The connection broke before the commit.');
        }
        const committed = connection.commit();
        shared.holder = null;
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
      enabled: shared.isFree,
      perform: () => run(null),
      faults: [
        { fault: 'error-before-commit', perform: () => run('error-before-commit') },
        { fault: 'error-after-commit', perform: () => run('error-after-commit') },
      ],
    });
  };

  return {
    pinsIsolation: true,
    query: <Row extends object>(sql: string, params: unknown[] = []) => {
      engine.refuseInside(`query("${describeStatement(sql)}")`);
      return shared.autocommit(sql, params, () => connection.query<Row>(sql, params));
    },
    transaction: (work, options) => {
      engine.refuseInside('transaction()');
      return transaction(work, options);
    },
  };
}

function transactionHandle(
  { connection, touchRows }: OneConnection,
  statements: string[],
): { handle: Queryable; close: () => void } {
  let closed = false;
  return {
    close: () => {
      closed = true;
    },
    handle: {
      query: async (sql, params = []) => {
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
