import type { Database, Queryable, QueryResult } from './database.ts';
import { TransactionRolledBackError } from './errors.ts';
import { sqlStateOf } from './sqlstate.ts';

/** What is used of a node-postgres client. Typed by its shape, so that nothing here imports `pg`. */
export interface PostgresClient {
  query(statement: { text: string; values?: unknown[]; name?: string }): Promise<PostgresResult>;
}

/** What is used of a node-postgres client that a pool lends. */
export interface PostgresPoolClient extends PostgresClient {
  /** With an error the pool closes the connection instead of taking it back. */
  release(error?: Error | boolean): void;
  on(event: 'error', listener: (error: Error) => void): unknown;
}

/** What is used of a node-postgres pool. */
export interface PostgresPool {
  connect(lend: (error: Error | undefined, client: PostgresPoolClient | undefined) => void): void;
}

export interface PostgresResult {
  // What a row holds is the statement's affair, as in node-postgres itself.
  rows: object[];
  rowCount: number | null;
  command: string;
}

export interface PostgresOptions {
  /**
   * Whether statements are prepared once per connection; true by default. Without it a call costs about 2.5 times
   * as much. Switch it off behind a pooler that gives each transaction another connection and does not know
   * prepared statements, such as PgBouncer before 1.21.
   */
  prepare?: boolean | undefined;
}

/** Beyond this many texts (a hook that builds SQL from values, say) statements are sent unprepared. */
const MAX_PREPARED = 200;

/**
 * A node-postgres `Pool` as a `Database`. One transaction uses one connection; a connection that failed is closed
 * and not used again.
 *
 * Listen to the pool's own `error` event, as node-postgres asks: a connection that dies while it is idle is
 * reported there, and an event without a listener ends the process.
 */
export function postgresDatabase(pool: PostgresPool, options: PostgresOptions = {}): Database {
  const prepare = options.prepare ?? true;

  /** `work` calls `broken` with the reason when the connection must not be used again. */
  const withClient = async <T>(
    work: (client: PostgresPoolClient, broken: (reason: unknown) => void) => Promise<T>,
  ): Promise<T> => {
    const client = await borrow(pool);
    let failure: Error | undefined;
    try {
      return await work(client, (reason) => {
        failure ??= asError(reason);
      });
    } finally {
      client.release(failure);
    }
  };

  return {
    pinsIsolation: true,
    // By hand what `withClient` does: this is the common case, and each layer of promises shows in it.
    query: async <Row extends object>(sql: string, params: unknown[] = []) => {
      const client = await borrow(pool);
      let result: QueryResult<Row>;
      try {
        result = await run<Row>(client, sql, params, prepare);
      } catch (error) {
        client.release(isStatementsOwn(error) ? undefined : asError(error));
        throw error;
      }
      client.release();
      return result;
    },
    transaction: (work, { isolation } = {}) =>
      withClient(async (client, broken) => {
        const plain = async (text: string): Promise<PostgresResult> => {
          try {
            return await client.query({ text });
          } catch (error) {
            if (!isStatementsOwn(error)) broken(error);
            throw error;
          }
        };
        await plain(isolation === undefined ? 'begin' : `begin isolation level ${isolation}`);
        let value: Awaited<ReturnType<typeof work>>;
        try {
          value = await work(postgresTransaction(client, options));
        } catch (error) {
          // A rollback that fails has marked the connection; the first error says why it came to this.
          await plain('rollback').catch(broken);
          throw error;
        }
        const { command } = await plain('commit');
        if (command === 'ROLLBACK') throw new TransactionRolledBackError();
        return value;
      }),
  };
}

/**
 * A client of the pool, with a listener for its end. It is attached in the callback, where the pool has just
 * taken its own off: a promise would resolve later, and a new connection's greeting and the news of its end can
 * arrive in one packet, with nobody listening to the second.
 */
function borrow(pool: PostgresPool): Promise<PostgresPoolClient> {
  return new Promise((resolve, reject) => {
    pool.connect((error, client) => {
      if (client === undefined) {
        reject(error ?? new Error('The pool lent no client, and did not say why.'));
        return;
      }
      if (!listenedTo.has(client)) {
        listenedTo.add(client);
        client.on('error', ignore);
      }
      resolve(client);
    });
  });
}

/**
 * A client of yours that is inside a transaction, as the handle that `register` takes:
 *
 * ```ts
 * await client.query('begin isolation level read committed');
 * await reconciler.register(jobId, {}, postgresTransaction(client));
 * await client.query('commit');
 * ```
 */
export function postgresTransaction(
  client: PostgresClient,
  options: PostgresOptions = {},
): Queryable {
  const prepare = options.prepare ?? true;
  return {
    query: <Row extends object>(sql: string, params: unknown[] = []) =>
      run<Row>(client, sql, params, prepare),
  };
}

async function run<Row extends object>(
  client: PostgresClient,
  text: string,
  values: unknown[],
  prepare: boolean,
): Promise<QueryResult<Row>> {
  const name = prepare ? preparedName(client, text) : undefined;
  const { rows, rowCount } = await client.query({
    text,
    values,
    ...(name === undefined ? {} : { name }),
  });
  return { rows: rows as Row[], affectedRows: rowCount ?? 0 };
}

/**
 * The pool listens to idle connections only, and an `error` that nobody listens to ends the process. One that dies
 * between two statements of a transaction needs no more than an ear: its next statement fails with the reason, and
 * the pool does not take it back. Once per connection, since adding and removing listeners slows the client down.
 */
const listenedTo = new WeakSet<PostgresPoolClient>();
const ignore = (): void => undefined;

/** The texts that each connection has seen, with their names there. */
const preparedBy = new WeakMap<PostgresClient, Map<string, string>>();

/** The name under which a connection keeps the statement; none once it keeps too many. */
function preparedName(client: PostgresClient, text: string): string | undefined {
  let names = preparedBy.get(client);
  if (names === undefined) {
    names = new Map();
    preparedBy.set(client, names);
  }
  let name = names.get(text);
  if (name === undefined && names.size < MAX_PREPARED) {
    name = `sume_${names.size + 1}`;
    names.set(text, name);
  }
  return name;
}

/**
 * Whether the server itself refused the statement, after which the connection is as good as before. Not so for
 * errors without a SQLSTATE (the socket's), and for classes 08 and 57P: the server is closing the connection.
 */
function isStatementsOwn(error: unknown): boolean {
  const state = sqlStateOf(error);
  return state !== null && !state.startsWith('08') && !state.startsWith('57P');
}

function asError(reason: unknown): Error {
  return reason instanceof Error ? reason : new Error('connection broken', { cause: reason });
}
