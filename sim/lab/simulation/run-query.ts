import type { PGlite } from '@electric-sql/pglite';
import type { QueryTable } from './protocol.ts';

/** More rows than a person reads; the rest is cut. */
const MOST_ROWS = 200;

/**
 * Runs what was typed into the console on the tables as the last schedule left them, and takes it back: the
 * next schedule must find what it expects.
 *
 * @throws the database's error.
 */
export async function runQuery(database: PGlite, sql: string): Promise<QueryTable[]> {
  await database.exec('begin');
  try {
    const results = await database.exec(sql);
    return results.map(({ fields, rows, affectedRows }) => ({
      columns: fields.map(({ name }) => name),
      rows: rows
        .slice(0, MOST_ROWS)
        .map((row) => fields.map(({ name }) => cell((row as Record<string, unknown>)[name]))),
      affected: affectedRows ?? 0,
    }));
  } finally {
    await database.exec('rollback');
  }
}

function cell(value: unknown): string {
  if (value === null || value === undefined) return '∅';
  if (value instanceof Date) return value.toISOString();
  if (typeof value === 'string') return value;
  return typeof value === 'bigint' ? value.toString() : JSON.stringify(value);
}
