import pgTypes from 'pg-types';
import type { RawField, RawResult } from './session.ts';
import { toPostgresText } from './postgres-text.ts';

/** A statement in the form that node-postgres takes beside text and values. */
export interface PoolQuery {
  text: string;
  values?: readonly unknown[] | undefined;
  /** Rows as arrays of values, in the order of the columns. */
  rowMode?: 'array' | undefined;
  /** Accepted; every statement is prepared here, once for all connections. */
  name?: string | undefined;
  /** Who reads the values of a type, in the place of node-postgres's own readers. */
  types?: { getTypeParser(typeId: number, format?: 'text'): (text: string) => unknown } | undefined;
}

/** What a statement gave, as node-postgres says it. */
export interface PoolResult<Row> {
  rows: Row[];
  /** Rows that were read or written; null for a statement that does neither. */
  rowCount: number | null;
  command: string;
  fields: RawField[];
}

interface Queries {
  /** Declared because node-postgres has it, and refused when it is called. */
  query<Cursor extends { submit: (connection: never) => void }>(cursor: Cursor): Cursor;
  query<Row = Record<string, unknown>>(
    statement: string | PoolQuery,
    values?: readonly unknown[],
  ): Promise<PoolResult<Row>>;
}

/** A connection that the pool lends. What it begins it holds until it ends it. */
export interface PoolClient extends Queries {
  release(error?: Error | boolean): void;
  /** Accepted: no connection ends here but by a fault, which the next statement tells. */
  on(event: string, listener: (...given: never[]) => void): this;
  off(event: string, listener: (...given: never[]) => void): this;
  once(event: string, listener: (...given: never[]) => void): this;
  removeListener(event: string, listener: (...given: never[]) => void): this;
}

/**
 * A pool in the shape of node-postgres, for code that takes one: Kysely's `PostgresDialect`, Drizzle's
 * `node-postgres`, plain SQL. Promises only, no callbacks, cursors or streams.
 */
export interface Pool extends Queries {
  connect(): Promise<PoolClient>;
  /** As node-postgres has it for those who must listen before the connection can end. */
  connect(lend: (error: Error | undefined, client: PoolClient | undefined) => void): void;
  on(event: string, listener: (...given: never[]) => void): this;
  off(event: string, listener: (...given: never[]) => void): this;
  end(): Promise<void>;
}

/** What a connection does with a statement; `params` are the values as the caller gave them. */
export type Send = (
  sql: string,
  texts: readonly (string | null)[],
  params: readonly unknown[],
) => Promise<RawResult>;

/** A pool of connections that `open` makes. Lending one takes no time, and there is no end of them. */
export function createPool(open: () => Send): Pool {
  return new SimulatedPool(open);
}

/** A statement came in a form that only node-postgres itself can take. */
export class PoolCallError extends TypeError {
  override readonly name = 'PoolCallError';
  readonly code = 'pool_call';
}

/** What pool and client have in common. */
abstract class Querying implements Queries {
  protected abstract sender(): Send;

  query<Cursor extends { submit: (connection: never) => void }>(cursor: Cursor): Cursor;
  query<Row = Record<string, unknown>>(
    statement: string | PoolQuery,
    values?: readonly unknown[],
  ): Promise<PoolResult<Row>>;
  query(...given: unknown[]): unknown {
    return ask(this.sender(), given);
  }

  on(): this {
    return this;
  }

  off(): this {
    return this;
  }
}

class SimulatedPoolClient extends Querying implements PoolClient {
  readonly #send: Send;

  constructor(send: Send) {
    super();
    this.#send = send;
  }

  protected sender(): Send {
    return this.#send;
  }

  release(): void {}

  once(): this {
    return this;
  }

  removeListener(): this {
    return this;
  }
}

// Drizzle knows a pool by this word in the name of its class.
class SimulatedPool extends Querying implements Pool {
  readonly #open: () => Send;

  constructor(open: () => Send) {
    super();
    this.#open = open;
  }

  protected sender(): Send {
    return this.#open();
  }

  connect(): Promise<PoolClient>;
  connect(lend: (error: Error | undefined, client: PoolClient | undefined) => void): void;
  connect(
    lend?: (error: Error | undefined, client: PoolClient | undefined) => void,
  ): Promise<PoolClient> | void {
    const client = new SimulatedPoolClient(this.#open());
    if (lend === undefined) return Promise.resolve(client);
    lend(undefined, client);
  }

  end(): Promise<void> {
    return Promise.resolve();
  }
}

async function ask(send: Send, given: readonly unknown[]): Promise<PoolResult<unknown>> {
  if (given.some((one) => typeof one === 'function')) {
    throw new PoolCallError(
      'A callback was given to query(), and this pool knows promises only. Await what query() returns.',
    );
  }
  const [statement, values] = given;
  const query = (typeof statement === 'string' ? { text: statement } : statement) as PoolQuery;
  if (typeof query?.text !== 'string') {
    throw new PoolCallError(
      'query() was given neither SQL nor { text, values }: cursors and streams are not known here. Read the ' +
        'rows with one statement.',
    );
  }
  const params = (values as readonly unknown[] | undefined) ?? query.values ?? [];
  const result = await send(query.text, params.map(toPostgresText), params);
  return {
    ...readTag(result.tag),
    fields: [...result.fields],
    rows: readRows(result, query),
  };
}

function readRows({ fields, rows }: RawResult, { rowMode, types }: PoolQuery): unknown[] {
  const parsers: Pick<NonNullable<PoolQuery['types']>, 'getTypeParser'> = types ?? pgTypes;
  const readers = fields.map(({ dataTypeID }) => parsers.getTypeParser(dataTypeID, 'text'));
  const read = (text: string | null, index: number): unknown =>
    text === null ? null : (readers[index]?.(text) ?? text);
  return rows.map((texts) =>
    rowMode === 'array'
      ? texts.map(read)
      : Object.fromEntries(
          fields.map(({ name }, index) => [name, read(texts[index] ?? null, index)]),
        ),
  );
}

function readTag(tag: string): { command: string; rowCount: number | null } {
  const words = tag.split(' ');
  const last = words.at(-1) ?? '';
  return {
    command: words[0] ?? '',
    rowCount: /^\d+$/.test(last) ? Number(last) : null,
  };
}
