import type { QueryResult } from '../../src/database.ts';
import type { Engine } from '../engine/engine.ts';
import type { Change } from '../engine/trace.ts';
import { changesOf } from './audit.ts';
import type { OnNotice, RawResult, Session } from './session.ts';

/** The one connection of a simulated world. Changes of watched rows count from the commit on. */
export interface Connection {
  query<Row extends object>(sql: string, params?: unknown[]): QueryResult<Row>;
  /** One statement as the server's text has it; without parameters it may be several. */
  send(sql: string, texts: readonly (string | null)[]): RawResult;
  /** @param statement `begin`, with whatever it says of the transaction. */
  begin(statement: string): void;
  /** False when the transaction had failed before: then COMMIT rolls back. */
  commit(): boolean;
  rollback(): void;
  /** Rolls back what a schedule that could not be judged left open. */
  abandon(): void;
  /** How many times the database was asked for something. */
  readonly uses: number;
  /** Committed changes since the last call. */
  takeChanges(): Change[];
}

export function createConnection(session: Session, engine: Pick<Engine, 'outside'>): Connection {
  let committed: Change[] = [];
  let uncommitted: Change[] | null = null;
  let uses = 0;
  const run = <T>(work: (onNotice: OnNotice) => T): T => {
    uses += 1;
    const notices: string[] = [];
    // The database has timers of its own, for lock_timeout say, which are no task's.
    const result = engine.outside(() => work((message) => notices.push(message)));
    // Not reached when the statement failed: then nothing of it is left.
    (uncommitted ?? committed).push(...changesOf(notices));
    return result;
  };
  const connection: Connection = {
    query: (sql, params) => run((onNotice) => session.run(sql, params ?? [], onNotice)),
    send: (sql, texts) =>
      run((onNotice) =>
        texts.length === 0 ? session.sendScript(sql, onNotice) : session.send(sql, texts, onNotice),
      ),
    begin: (statement) => {
      session.execute(statement);
      uncommitted = [];
    },
    commit: () => {
      const changes = uncommitted ?? [];
      uncommitted = null;
      // Deferred triggers and constraints speak up only now.
      const tag = run((onNotice) => session.execute('commit', onNotice));
      if (tag === 'ROLLBACK') return false;
      committed.unshift(...changes);
      return true;
    },
    rollback: () => {
      uncommitted = null;
      session.execute('rollback');
    },
    abandon: () => {
      if (uncommitted !== null) connection.rollback();
    },
    get uses() {
      return uses;
    },
    takeChanges: () => {
      const changes = committed;
      committed = [];
      return changes;
    },
  };
  return connection;
}
