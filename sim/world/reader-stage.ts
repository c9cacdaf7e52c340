import { createConnection } from './connection.ts';
import { createDatabasePort } from './database-port.ts';
import type { Integration, Readers } from './integration.ts';
import { createOneConnection } from './one-connection.ts';
import { createOutsideHandle } from './outside-handle.ts';
import { makeOwnTables } from './own-tables.ts';
import { createPoolPort } from './pool-port.ts';
import { createReplica } from './replica.ts';
import { createRowReader } from './row-reader.ts';
import { quoteIdentifier, sessionOf, type Session, type SimulationDatabase } from './session.ts';
import { SetupError } from './setup-error.ts';
import type { Stage } from './stage.ts';

const stages = new WeakMap<SimulationDatabase, Map<Integration, Promise<Stage>>>();

/**
 * An integration's own tables in a PGlite, whatever they are: made once, emptied before each schedule, and known
 * only through its readers.
 */
export function readerStage(
  database: SimulationDatabase,
  integration: Integration,
  readers: Readers,
): Promise<Stage> {
  const known = stages.get(database) ?? new Map<Integration, Promise<Stage>>();
  stages.set(database, known);
  let stage = known.get(integration);
  if (stage === undefined) {
    // Another integration of the same name has other tables, of the same names perhaps.
    stage = makeStage(sessionOf(database), `own ${known.size + 1}`, integration, readers);
    known.set(integration, stage);
  }
  return stage;
}

async function makeStage(
  session: Session,
  schema: string,
  integration: Integration,
  readers: Readers,
): Promise<Stage> {
  session.execute(`create schema ${quoteIdentifier(schema)}`);
  session.enter(schema);
  const outside = createOutsideHandle(session);
  const tables = await makeOwnTables(session, schema, () =>
    outside
      .during(() => integration.setup(outside.database))
      .catch((cause: unknown) => {
        // It may have failed inside a transaction, and others use this connection too.
        session.execute('rollback');
        throw new SetupError(integration.name, cause);
      }),
  );
  return {
    database: 'pglite',
    open: async ({ engine, isJob, jobs }) => {
      session.enter(schema);
      tables.empty();
      const connection = createConnection(session, engine);
      const shared = createOneConnection(engine, connection, isJob, false);
      const rows = createRowReader(readers);
      let usesSeen = 0;
      let writesSeen = writesSoFar(session);
      return {
        port: createDatabasePort(engine, shared),
        pool: createPoolPort(engine, shared),
        replica: createReplica({ engine, session, tables: tables.names, schema }).port,
        rollbackOf: async (process) => shared.rollbackOf(process),
        takeChanges: async () => {
          // Of what is not committed nothing is to be seen yet, and the only connection would show it.
          if (!shared.isFree() || connection.uses === usesSeen) return [];
          usesSeen = connection.uses;
          const writes = writesSoFar(session);
          if (writes === writesSeen) return [];
          writesSeen = writes;
          return engine.outside(() =>
            outside.during(() => rows.changes([...jobs()], outside.database)),
          );
        },
        close: async () => connection.abandon(),
      };
    },
  };
}

/** Grows with every transaction that writes, also through a function that looks like a read. */
function writesSoFar(session: Session): string {
  const sql = 'select pg_snapshot_xmax(pg_current_snapshot())::text as writes';
  return session.run<{ writes: string }>(sql, [], () => {}).rows[0]?.writes ?? '';
}
