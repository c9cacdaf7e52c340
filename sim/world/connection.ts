import type { QueryResult } from '../../src/database.ts';
import type { Engine } from '../engine/engine.ts';
import type { Change } from '../engine/trace.ts';
import type { OnNotice, Session } from './session.ts';

/**
 * The one connection of a simulated world. Every change of a watched row reaches the checker through a
 * trigger's NOTICE, which costs less than reading the rows again after each step. A NOTICE survives a
 * rollback, so changes count only from the commit on.
 */
export interface Connection {
  query<Row extends object>(sql: string, params?: unknown[]): QueryResult<Row>;
  begin(isolation: string | null): void;
  /** False when the transaction had failed before: then COMMIT rolls back. */
  commit(): boolean;
  rollback(): void;
  /** Rolls back what a schedule that could not be judged left open. */
  abandon(): void;
  /** Committed changes since the last call. */
  takeChanges(): Change[];
}

const MARK = 'sume-sim audit ';

/** Creates the trigger function in the current schema, and the triggers on the tables. */
export function auditSql(tables: readonly string[]): string {
  return [
    `create or replace function sume_sim_audit() returns trigger language plpgsql as $audit$
     begin
       raise notice '${MARK}%', json_build_array(tg_table_name, to_json(old), to_json(new));
       return null;
     end $audit$;`,
    ...tables.map(
      (table) =>
        `create or replace trigger sume_sim_audit after insert or update or delete on ${table}
         for each row execute function sume_sim_audit();`,
    ),
  ].join('\n');
}

export function createConnection(session: Session, engine: Pick<Engine, 'outside'>): Connection {
  let committed: Change[] = [];
  let uncommitted: Change[] | null = null;
  const run = <T>(work: (onNotice: OnNotice) => T): T => {
    const seen: Change[] = [];
    // The database has timers of its own, for lock_timeout say, which are no task's.
    const result = engine.outside(() =>
      work((message) => {
        if (message.startsWith(MARK)) seen.push(toChange(message.slice(MARK.length)));
      }),
    );
    // Not reached when the statement failed: then nothing of it is left.
    (uncommitted ?? committed).push(...seen.filter((change) => !isEmpty(change)).sort(byRow));
    return result;
  };
  const connection: Connection = {
    query: (sql, params) => run((onNotice) => session.run(sql, params ?? [], onNotice)),
    begin: (isolation) => {
      session.execute(isolation === null ? 'begin' : `begin isolation level ${isolation}`);
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
    takeChanges: () => {
      const changes = committed;
      committed = [];
      return changes;
    },
  };
  return connection;
}

function toChange(json: string): Change {
  const [table, before, after] = JSON.parse(json) as [string, Change['before'], Change['after']];
  return { table, key: String((after ?? before)?.['job_id']), before, after };
}

/**
 * A statement writes its rows in the order in which they lie on the page, and that depends on what earlier
 * schedules left there. Each row is written once, so the order says nothing.
 */
function byRow(one: Change, other: Change): number {
  if (one.table !== other.table) return one.table < other.table ? -1 : 1;
  return one.key < other.key ? -1 : 1;
}

function isEmpty({ before, after }: Change): boolean {
  return JSON.stringify(before) === JSON.stringify(after);
}
