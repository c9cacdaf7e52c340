import { readFileSync } from 'node:fs';
import { PGlite } from '@electric-sql/pglite';
import { Client, Pool } from 'pg';
import { describe, inject } from 'vitest';

let shared: Promise<PGlite> | undefined;

/**
 * The PGlite of this worker process, started on first use and shared by all the files that run here. It
 * starts empty, and whoever uses it removes what they made; it is never closed.
 */
export function sharedPglite(): Promise<PGlite> {
  shared ??= PGlite.create({ loadDataDir: new Blob([readFileSync(inject('pgliteTemplate'))]) });
  return shared;
}

/** `describe` for what needs PostgreSQL: skipped where the run has no server (never so under CI). */
export const describePostgres: ReturnType<typeof describe.skipIf> = describe.skipIf(
  inject('databaseMissing') === 'unavailable',
);

export interface OpenPostgresOptions {
  /** Most connections at a time; 16 by default. */
  connections?: number;
  /** Settings of each session, as `name=value`, e.g. `default_transaction_isolation=serializable`. */
  settings?: string[];
  /** Another server than the one of this run. */
  url?: string;
}

export interface OpenPostgres {
  /** Its connections see the schema and nothing else. */
  pool: Pool;
  schema: string;
  /** A connection string with the schema and settings in it, for clients of one's own. */
  url: string;
  /** Drops the schema and ends the pool. */
  close: () => Promise<void>;
}

/** A pool on the PostgreSQL server of this run, bound to a schema that nobody else uses. */
export async function openPostgres(options: OpenPostgresOptions = {}): Promise<OpenPostgres> {
  const base = options.url ?? inject('databaseUrl');
  if (base === null) {
    throw new Error(
      `This run has no PostgreSQL server (${String(inject('databaseMissing'))}). A test file that needs ` +
        'one names postgres somewhere in its text, and uses describePostgres.',
    );
  }
  const schema = await createSchema(base);
  const url = new URL(base);
  const settings = [`search_path=${schema}`, ...(options.settings ?? [])];
  url.searchParams.set(
    'options',
    settings.map((setting) => `-c ${escapeSpaces(setting)}`).join(' '),
  );
  const pool = new Pool({
    connectionString: url.href,
    max: options.connections ?? 16,
  });
  // A connection that dies while idle (a test may kill it) is replaced at its next use.
  pool.on('error', () => undefined);
  return {
    pool,
    schema,
    url: url.href,
    close: async () => {
      await pool.end();
      await once(base, `drop schema ${schema} cascade`);
    },
  };
}

/** The server itself numbers the schema, so the name is new however many runs share the server. */
async function createSchema(url: string): Promise<string> {
  const [row] = await once<{ id: string }>(url, 'select pg_current_xact_id()::text as id');
  const schema = `sume_test_${String(row?.id)}`;
  await once(url, `create schema ${schema}`);
  return schema;
}

async function once<Row extends object>(url: string, sql: string): Promise<Row[]> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    const { rows } = await client.query<Row>(sql);
    return rows;
  } finally {
    await client.end();
  }
}

/** In the `options` of a connection a space ends a setting unless a backslash stands before it. */
function escapeSpaces(setting: string): string {
  return setting.replace(/[\\ ]/g, '\\$&');
}
