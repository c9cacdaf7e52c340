import { Client, Pool } from 'pg';

export interface SchemaOptions {
  /** Most connections at a time; 16 by default. */
  connections?: number;
  /** Settings of each session, as `name=value`, e.g. `default_transaction_isolation=serializable`. */
  settings?: string[];
}

export interface OpenSchema {
  /** Its connections see the schema and nothing else. */
  pool: Pool;
  schema: string;
  /** A connection string with the schema and settings in it, for clients of one's own. */
  url: string;
  /** Drops the schema and ends the pool. */
  close: () => Promise<void>;
}

/** A pool on the server that `base` names, bound to a new schema that nobody else uses. */
export async function openSchema(base: string, options: SchemaOptions = {}): Promise<OpenSchema> {
  const schema = await createSchema(base);
  const url = new URL(base);
  const settings = [`search_path=${schema}`, ...(options.settings ?? [])];
  url.searchParams.set(
    'options',
    settings.map((setting) => `-c ${escapeSpaces(setting)}`).join(' '),
  );
  const pool = new Pool({ connectionString: url.href, max: options.connections ?? 16 });
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
