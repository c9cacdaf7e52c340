import { auditSql } from './audit.ts';
import { createConnection } from './connection.ts';
import { createDatabasePort } from './database-port.ts';
import { createEmptying } from './emptying.ts';
import type { Integration } from './integration.ts';
import { createOneConnection } from './one-connection.ts';
import { plainDatabase } from './plain-database.ts';
import { createReplica } from './replica.ts';
import { quoteIdentifier, sessionOf, type SimulationDatabase } from './session.ts';
import type { Stage } from './stage.ts';
import { allNames, watchedNames } from './watched-tables.ts';

/**
 * An integration's tables in a PGlite, in a schema to themselves, so that all integrations can share one. It has
 * one connection: an autocommit statement is one step, and so is a whole transaction.
 */
export async function pgliteStage(
  database: SimulationDatabase,
  integration: Integration,
): Promise<Stage> {
  await database.waitReady;
  const { tables, readers } = integration;
  if (readers !== undefined) {
    // Loaded only where it is needed: the shipped integrations, and the page, do without node-postgres's types.
    const { readerStage } = await import('./reader-stage.ts');
    return readerStage(database, integration, readers);
  }
  const session = sessionOf(database);
  const schema = `sim ${integration.name}`;
  session.execute(`create schema if not exists ${quoteIdentifier(schema)}`);
  session.enter(schema);
  await integration.setup(plainDatabase(session));
  session.execute(auditSql(watchedNames(tables)));
  const empty = createEmptying(session, allNames(tables));
  return {
    database: 'pglite',
    open: async ({ engine, isJob }) => {
      session.enter(schema);
      empty();
      const connection = createConnection(session, engine);
      // Pasted code, and code with tables beside the watched ones, may write what the audit does not tell.
      const seesAll = integration.memory === undefined && tables.others === undefined;
      const shared = createOneConnection(engine, connection, isJob, seesAll);
      return {
        port: createDatabasePort(engine, shared),
        replica: createReplica({ engine, session, tables: watchedNames(tables), schema }).port,
        rollbackOf: async (process) => shared.rollbackOf(process),
        takeChanges: () => connection.takeChanges(),
        close: async () => connection.abandon(),
      };
    },
  };
}
