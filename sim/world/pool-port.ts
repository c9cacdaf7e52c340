import type { Effect } from '../engine/call.ts';
import type { Engine } from '../engine/engine.ts';
import { EVERYTHING } from '../engine/footprint.ts';
import { InjectedDatabaseError, type OneConnection } from './one-connection.ts';
import { createPool, type Pool, type Send } from './pool.ts';
import type { RawResult } from './session.ts';
import { countRows, describeStatement, reasonOf } from './statement.ts';
import { transactionWord } from './transaction-words.ts';

type Fault = 'error-before-commit' | 'error-after-commit';

interface OpenTransaction {
  readonly fault: Fault | null;
  /** What it has done, for the trace. */
  readonly statements: string[];
  end: string | null;
}

/**
 * The database as a pool: an autocommit statement is one step, and what comes from BEGIN to COMMIT is one step
 * too. The code that wrote BEGIN runs on inside it; where it waits for another port before its COMMIT, the
 * connection stays taken.
 */
export function createPoolPort(engine: Engine, shared: OneConnection): Pool {
  return createPool(() => createClient(engine, shared));
}

function createClient(engine: Engine, shared: OneConnection): Send {
  const { connection } = shared;
  let open: OpenTransaction | null = null;
  let isBroken = false;

  const breaks = (when: string): InjectedDatabaseError => {
    isBroken = true;
    return new InjectedDatabaseError(`The connection to the database broke${when}.`);
  };

  const begin = (sql: string): Promise<RawResult> => {
    const task = engine.currentTask();
    return new Promise((resolve, reject) => {
      const run = async (fault: Fault | null): Promise<Effect<null>> => {
        const transaction: OpenTransaction = { fault, statements: [], end: null };
        try {
          connection.begin(sql);
        } catch (error) {
          engine.resume(task, () => {
            reject(error);
          });
          return { text: `begin fails: ${reasonOf(error)}`, value: null };
        }
        shared.holder = task;
        open = transaction;
        engine.resume(task, () => {
          resolve({ fields: [], rows: [], affectedRows: 0, tag: 'BEGIN' });
        });
        await engine.quiet.settled();
        // Left open it holds the only connection, whoever else wants it.
        if (transaction.end === null) engine.touch(EVERYTHING, 'write');
        const done = [...transaction.statements, transaction.end ?? 'left open, waiting'];
        return { text: `transaction: ${done.join(', ')}`, value: null };
      };
      engine
        .step<null>({
          name: 'transaction',
          kind: 'transaction',
          enabled: shared.isFree,
          perform: () => run(null),
          faults: [
            { fault: 'error-before-commit', perform: () => run('error-before-commit') },
            { fault: 'error-after-commit', perform: () => run('error-after-commit') },
          ],
        })
        .catch(reject);
    });
  };

  const leave = (transaction: OpenTransaction, end: string): void => {
    transaction.end = end;
    shared.holder = null;
    open = null;
  };

  const commit = (transaction: OpenTransaction): RawResult => {
    if (transaction.fault === 'error-before-commit') {
      connection.rollback();
      leave(transaction, 'the connection breaks before the commit');
      throw breaks(' before the commit');
    }
    let isCommitted: boolean;
    try {
      isCommitted = connection.commit();
    } catch (error) {
      // A deferred constraint spoke up: nothing of it is left.
      leave(transaction, `rolled back: ${reasonOf(error)}`);
      throw error;
    }
    if (isCommitted && transaction.fault === 'error-after-commit') {
      leave(transaction, 'committed; then the connection breaks');
      throw breaks(' after the commit');
    }
    leave(transaction, isCommitted ? 'committed' : 'rolled back: a statement had failed');
    return { fields: [], rows: [], affectedRows: 0, tag: isCommitted ? 'COMMIT' : 'ROLLBACK' };
  };

  const inside = (
    transaction: OpenTransaction,
    sql: string,
    texts: readonly (string | null)[],
    params: readonly unknown[],
  ): RawResult => {
    const word = transactionWord(sql);
    if (word === 'commit') return commit(transaction);
    if (word === 'rollback') {
      connection.rollback();
      leave(transaction, 'rolled back');
      return { fields: [], rows: [], affectedRows: 0, tag: 'ROLLBACK' };
    }
    shared.touchRows(sql, params);
    const name = describeStatement(sql);
    try {
      const result = connection.send(sql, texts);
      transaction.statements.push(`${name} (${countRows(result)})`);
      return result;
    } catch (error) {
      transaction.statements.push(`${name} fails`);
      throw error;
    }
  };

  return async (sql, texts, params) => {
    if (isBroken) throw breaks(' earlier');
    if (open !== null) return inside(open, sql, texts, params);
    if (transactionWord(sql) === 'begin') return begin(sql);
    try {
      return await shared.autocommit(sql, params, () => connection.send(sql, texts));
    } catch (error) {
      isBroken ||= error instanceof InjectedDatabaseError;
      throw error;
    }
  };
}
