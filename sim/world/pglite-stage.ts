import type { Database, Queryable } from '../../src/database.ts';
import { auditSql } from './audit.ts';
import { createConnection } from './connection.ts';
import { createDatabasePorts } from './database-port.ts';
import type { Integration } from './integration.ts';
import { createReplica } from './replica.ts';
import { quoteIdentifier, sessionOf, type Session, type SimulationDatabase } from './session.ts';
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
  const session = sessionOf(database);
  const schema = `sim ${integration.name}`;
  const { tables } = integration;
  session.execute(`create schema if not exists ${quoteIdentifier(schema)}`);
  session.enter(schema);
  await integration.setup(plainDatabase(session));
  session.execute(auditSql(watchedNames(tables)));
  return {
    database: 'pglite',
    open: async ({ engine, isJob }) => {
      session.enter(schema);
      // Deleting a few rows takes 0.1 ms, TRUNCATE ten times as long.
      session.execute(
        allNames(tables)
          .map((table) => `delete from ${table};`)
          .join(' '),
      );
      const connection = createConnection(session, engine);
      const { port, rollbackOf } = createDatabasePorts(engine, connection, isJob);
      return {
        port,
        replica: createReplica({ engine, session, tables, schema }).port,
        rollbackOf: async (process) => rollbackOf(process),
        takeChanges: () => connection.takeChanges(),
        close: async () => connection.abandon(),
      };
    },
  };
}

/** The session as a database that nothing watches. */
function plainDatabase(session: Session): Database {
  const on: Queryable = { query: async (sql, params) => session.run(sql, params ?? [], () => {}) };
  return {
    ...on,
    pinsIsolation: true,
    transaction: async (work, { isolation } = {}) => {
      session.execute(isolation === undefined ? 'begin' : `begin isolation level ${isolation}`);
      try {
        const value = await work(on);
        session.execute('commit');
        return value;
      } catch (error) {
        session.execute('rollback');
        throw error;
      }
    },
  };
}
