import type { Database, Queryable } from '../../src/database.ts';
import type { Change } from '../engine/trace.ts';
import { auditSql } from '../world/audit.ts';
import type { Integration } from '../world/integration.ts';
import type { Stage } from '../world/stage.ts';
import { allNames, watchedNames } from '../world/watched-tables.ts';
import type { LockWaits } from './lock-waits.ts';
import { openTransaction, type TransactionParts } from './open-transaction.ts';
import type { DefaultIsolation, ServerSession } from './server-session.ts';
import { createSerializableConflicts } from './serializable-conflicts.ts';
import { createSessions } from './sessions.ts';

/** What a stage has of its server. */
export interface StageParts {
  /** A schema that is there, and empty. */
  schema: string;
  integration: Integration;
  defaultIsolation: DefaultIsolation;
  /** Never waits for a lock of a task: it empties the tables and looks at who waits. */
  observer: ServerSession;
  lockWaits: LockWaits;
  /** The session of this number, opened on first use. */
  session: (number: number) => Promise<ServerSession>;
}

/** A schedule leaves a handful of dead entries on a page that holds several hundred. */
const SCHEDULES_A_PAGE = 30;

/** An integration's tables on a PostgreSQL server, in a schema to themselves; each task has its own connection. */
export async function postgresStage(parts: StageParts): Promise<Stage> {
  const { schema, integration, observer, defaultIsolation } = parts;
  const { tables } = integration;
  await observer.enter(schema, 'read committed');
  await integration.setup(plainDatabase(observer));
  const tablesAreLinked = await hasLinks(observer);
  await observer.execute(
    [
      auditSql(watchedNames(tables)),
      // What it does in the background would change plans from one schedule to the next.
      ...allNames(tables).map((table) => `alter table ${table} set (autovacuum_enabled = false);`),
    ].join('\n'),
  );
  // The serializable level locks pages of indexes. What earlier schedules left on them does not matter as long as
  // there is one page, so new ones are made before it can be full. TRUNCATE takes many times as long as DELETE.
  let pagesMatter = defaultIsolation === 'serializable';
  let sinceTruncated = 0;

  return {
    database: 'postgres',
    open: async ({ engine, isJob }) => {
      await observer.enter(schema, 'read committed');
      const all = allNames(tables);
      const truncates = pagesMatter && sinceTruncated >= SCHEDULES_A_PAGE;
      sinceTruncated = truncates ? 0 : sinceTruncated + 1;
      await observer.execute(
        truncates
          ? `truncate ${all.join(', ')}`
          : all.map((table) => `delete from ${table};`).join(' '),
      );
      observer.takeNotices();
      const sessions = createSessions({
        engine,
        lockWaits: parts.lockWaits,
        session: async (number) => {
          const session = await parts.session(number);
          await session.enter(schema, defaultIsolation);
          return session;
        },
      });
      let committed: Change[] = [];
      const shared: TransactionParts = {
        engine,
        sessions,
        isJob,
        defaultIsolation,
        tablesAreLinked,
        seesEveryWrite: tables.others === undefined,
        serializable: createSerializableConflicts(engine),
        onCommitted: (changes) => committed.push(...changes),
        onSerializable: () => {
          pagesMatter = true;
        },
      };
      const port: Database = {
        pinsIsolation: true,
        query: async (sql, params) => {
          const transaction = openTransaction(shared, engine.currentTask(), 'statement', null);
          const result = await transaction.statement<never>(sql, params ?? []);
          await transaction.commit();
          return result;
        },
        transaction: async (work, { isolation } = {}) => {
          const task = engine.currentTask();
          const transaction = openTransaction(shared, task, 'transaction', isolation ?? null);
          const tx = createHandle((sql, params) => transaction.statement(sql, params ?? []));
          let value;
          try {
            value = await work(tx.handle);
          } catch (error) {
            tx.close();
            await transaction.rollback(error);
            throw error;
          }
          tx.close();
          await transaction.commit();
          return value;
        },
      };
      return {
        port,
        // On one server there is nothing that lags: the copy is the thing itself.
        replica: port,
        rollbackOf: async (process) => {
          const gone = [...sessions.used].filter(({ task }) => task.process === process);
          if (gone.length === 0) return;
          engine.touch('lock:*', 'write');
          for (const kind of ['ssi', 'ssi-end', 'ssi-of']) engine.touch(`${kind}:*`, 'write');
          await sessions.breakOff(gone);
        },
        takeChanges: () => {
          const taken = committed;
          committed = [];
          return taken;
        },
        close: async () => {
          await sessions.breakOff([...sessions.used]);
        },
      };
    },
  };
}

/** Whether a write to one table may reach into another: foreign keys, triggers, rules. */
async function hasLinks(session: ServerSession): Promise<boolean> {
  const { rows } = await session.query<{ linked: boolean }>(
    `select exists (select from pg_constraint where contype = 'f' and connamespace = current_schema::regnamespace)
       or exists (select from pg_trigger t join pg_class c on c.oid = tgrelid
                  where not tgisinternal and relnamespace = current_schema::regnamespace)
       or exists (select from pg_rules where schemaname = current_schema) as linked`,
  );
  return rows[0]?.linked ?? true;
}

/** A transaction's handle, which refuses statements that come after its end. */
function createHandle(statement: Queryable['query']): { handle: Queryable; close: () => void } {
  let isClosed = false;
  return {
    close: () => {
      isClosed = true;
    },
    handle: {
      query: async (sql, params) => {
        if (isClosed) {
          throw new Error(
            `"${sql}" came after its transaction had ended. Await every statement before the body returns.`,
          );
        }
        return statement(sql, params);
      },
    },
  };
}

/** A session as a database that nothing watches. */
function plainDatabase(session: ServerSession): Database {
  const on: Queryable = { query: (sql, params) => session.query(sql, params ?? []) };
  return {
    ...on,
    pinsIsolation: true,
    transaction: async (work, { isolation } = {}) => {
      await session.execute(
        isolation === undefined ? 'begin' : `begin isolation level ${isolation}`,
      );
      try {
        const value = await work(on);
        await session.execute('commit');
        return value;
      } catch (error) {
        await session.execute('rollback');
        throw error;
      }
    },
  };
}
