import type { Queryable } from '../../src/database.ts';
import type { Effect } from '../engine/call.ts';
import type { Engine } from '../engine/engine.ts';
import { quoteIdentifier, type Session } from './session.ts';
import { describeStatement, isRead } from './statement.ts';

/** A read-only copy of some tables that may lag. */
export interface Replica {
  readonly port: Queryable;
}

/**
 * The copy is brought up to date by every read that does not lag; a lagging read sees it as the last such
 * read left it, or empty. So nothing is copied for an integration that never reads it.
 */
export function createReplica(options: {
  engine: Engine;
  session: Session;
  /** Names of the tables that are copied, in the form that SQL has them. */
  tables: readonly string[];
  schema: string;
}): Replica {
  const { engine, session, tables: names, schema } = options;
  const copyName = `${schema} replica`;
  const copy = quoteIdentifier(copyName);
  const own = quoteIdentifier(schema);
  let fresh = true;

  const onCopy = <T>(work: () => T): T => {
    if (fresh) {
      session.execute(
        [
          `create schema if not exists ${copy};`,
          ...names.map(
            (table) => `create table if not exists ${copy}.${table} (like ${own}.${table});`,
          ),
          ...names.map((table) => `delete from ${copy}.${table};`),
        ].join('\n'),
      );
      fresh = false;
    }
    session.enter(copyName);
    try {
      return work();
    } finally {
      session.enter(schema);
    }
  };

  return {
    port: {
      query: <Row extends object>(sql: string, params?: unknown[]) => {
        const name = describeStatement(sql);
        engine.refuseInside(`replica.query("${name}")`);
        type Result = { rows: Row[]; affectedRows?: number };
        const read = (lagging: boolean): Effect<Result> => {
          // What it sees is what has been written, or was when the copy was last brought up to date.
          engine.touch('row:*', 'read');
          engine.touch('replica', lagging ? 'read' : 'write');
          if (!isRead(sql)) {
            const message = `The replica is read-only, and "${name}" writes. Send writes to ports.database.`;
            return {
              text: `${name}: refused by the replica`,
              error: Object.assign(new Error(message), { code: '25006' }),
            };
          }
          try {
            const value = engine.outside(() =>
              onCopy(() => {
                if (!lagging) {
                  session.execute(
                    names
                      .map(
                        (table) =>
                          `delete from ${table}; insert into ${table} select * from ${own}.${table};`,
                      )
                      .join('\n'),
                  );
                }
                return session.run<Row>(sql, params ?? [], () => {});
              }),
            );
            const seen = value.rows.length === 1 ? '1 row' : `${value.rows.length} rows`;
            return {
              text: `${name} on the replica${lagging ? ', which lags' : ''}: ${seen}`,
              value,
            };
          } catch (error) {
            // The integration's own statement failed: it gets the error, and the trace names it.
            return { text: `${name} on the replica fails`, error };
          }
        };
        return engine.step<Result>({
          name: `${name} (replica)`,
          kind: 'statement',
          perform: () => read(false),
          faults: [{ fault: 'replica-lag', perform: () => read(true) }],
        });
      },
    },
  };
}
