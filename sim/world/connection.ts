import type { QueryResult } from '../../src/database.ts';
import type { Engine } from '../engine/engine.ts';
import type { Change } from '../engine/trace.ts';

/** What the simulator needs of its database: a PGlite instance is one as it stands. */
export interface SimulationDatabase {
  query<Row>(sql: string, params?: unknown[], options?: QueryOptions): Promise<QueryResult<Row>>;
  exec(sql: string, options?: QueryOptions): Promise<{ command?: string }[]>;
}

export interface QueryOptions {
  onNotice?: (notice: { message?: string | undefined }) => void;
}

/**
 * The one connection of a simulated world. Every change of a watched row reaches the checker through a
 * trigger's NOTICE, which costs less than reading the rows again after each step. A NOTICE survives a
 * rollback, so changes count only from the commit on.
 */
export interface Connection {
  query<Row>(sql: string, params?: unknown[]): Promise<QueryResult<Row>>;
  begin(isolation: string | null): Promise<void>;
  /** False when the transaction had failed before: then COMMIT rolls back. */
  commit(): Promise<boolean>;
  rollback(): Promise<void>;
  /** Rolls back what a schedule that could not be judged left open. */
  abandon(): Promise<void>;
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

export function createConnection(
  database: SimulationDatabase,
  engine: Pick<Engine, 'quiet' | 'outside'>,
): Connection {
  let committed: Change[] = [];
  let uncommitted: Change[] | null = null;
  const run = async <T>(work: (options: QueryOptions) => Promise<T>): Promise<T> => {
    const seen: Change[] = [];
    const onNotice: QueryOptions['onNotice'] = ({ message }) => {
      if (message?.startsWith(MARK) === true) seen.push(toChange(message.slice(MARK.length)));
    };
    // The database has timers of its own, for lock_timeout say, which are no task's.
    const result = await engine.quiet.track(engine.outside(() => work({ onNotice })));
    // Not reached when the statement failed: then nothing of it is left.
    (uncommitted ?? committed).push(...seen.filter((change) => !isEmpty(change)));
    return result;
  };
  const connection: Connection = {
    query: (sql, params) => run((options) => database.query(sql, params, options)),
    begin: async (isolation) => {
      await run((options) =>
        database.exec(isolation === null ? 'begin' : `begin isolation level ${isolation}`, options),
      );
      uncommitted = [];
    },
    commit: async () => {
      const changes = uncommitted ?? [];
      uncommitted = null;
      const [answer] = await run((options) => database.exec('commit', options));
      if (answer?.command === 'ROLLBACK') return false;
      committed.push(...changes);
      return true;
    },
    rollback: async () => {
      uncommitted = null;
      await run((options) => database.exec('rollback', options));
    },
    abandon: async () => {
      if (uncommitted !== null) await connection.rollback();
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

function isEmpty({ before, after }: Change): boolean {
  return JSON.stringify(before) === JSON.stringify(after);
}
