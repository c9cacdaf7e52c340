import { Client, DatabaseError, type QueryResult as PgResult } from 'pg';
import type { QueryResult } from '../../src/database.ts';
import { quoteIdentifier } from '../world/session.ts';
import { PostgresServerError } from './errors.ts';

/** The levels at which a session's transactions may run unless they say otherwise. */
export type DefaultIsolation = 'read committed' | 'repeatable read' | 'serializable';

/** A statement on its way: `outcome` is null until the server has answered. */
export interface Running {
  outcome: { value: QueryResult<never>; command: string } | { error: unknown } | null;
}

/** One connection to a server, which can be seen waiting for a lock. */
export interface ServerSession {
  /** The number of its backend, as `pg_locks` has it. */
  readonly pid: number;
  /** Whether the backend itself tells when it begins to wait. Otherwise somebody has to look. */
  readonly tellsWaits: boolean;
  /** The lock that the backend told it waits for, in its own words, since the last statement began. */
  readonly toldWait: string | null;
  /** `I`: in no transaction, `T`: in one, `E`: in one that has failed. */
  readonly status: string | null;
  /** False while it runs something, or has a transaction open. */
  readonly isIdle: boolean;
  /** What the statements since the last call raised. */
  takeNotices(): string[];
  /** Sends a statement. */
  start(sql: string, params: readonly unknown[]): Running;
  /** Resolves at the next thing that the server says. */
  stirred(): Promise<void>;
  /** Runs statements without parameters. The command tag of the last: `COMMIT`, `ROLLBACK`. */
  execute(sql: string): Promise<string>;
  query<Row extends object>(sql: string, params?: readonly unknown[]): Promise<QueryResult<Row>>;
  /** A clean session whose unqualified names mean the tables of this schema. */
  enter(schema: string, isolation: DefaultIsolation): Promise<void>;
  end(): Promise<void>;
}

/**
 * Not for the code under test: what makes a schedule cost less, and what would end a statement by the clock on
 * the wall. Plans must not change from one schedule to the next, because the serializable level locks what a
 * plan reads.
 */
const STEADY = `set synchronous_commit = off; set jit = off; set plan_cache_mode = force_generic_plan;
  set statement_timeout = 0; set lock_timeout = 0; set idle_in_transaction_session_timeout = 0;`;

/**
 * Makes the backend say at once that it waits: a millisecond after it began to, it looks for a deadlock, and
 * then logs "still waiting", to the client too. So whoever closes a circle is the one who fails, always.
 */
const TELLING = `set deadlock_timeout = '1ms'; set log_lock_waits = on;
  set client_min_messages = log; set lc_messages = 'C';`;

const STILL_WAITING = /^process \d+ still waiting for (.+) after [\d.]+ ms$/;

/** Beyond it statements are parsed each time: code that writes values into its SQL has no end of them. */
const MAX_PREPARED = 500;

/** Statements after which a session is not as it was, even when their transaction has ended. */
const LEAVES_TRACES =
  /^\s*(set\s+(?!local|transaction)|reset|discard|listen|prepare|declare|load|create)\b|\bset_config\b(?![^)]*,\s*true\))|\bpg_(try_)?advisory_lock/i;

/**
 * Connects.
 *
 * @param tellWaits whether to have the backend say that it waits, which not every role may (SQLSTATE 42501).
 * @throws what node-postgres says when there is no such server, or it does not let us in.
 */
export async function openServerSession(url: string, tellWaits: boolean): Promise<ServerSession> {
  const client = new Client({ connectionString: url, application_name: 'sume-sim' });
  if (!('getTransactionStatus' in client)) {
    throw new PostgresServerError(
      'no_server',
      'The installed package "pg" does not tell where its transaction stands. Update it: npm install pg@^8.23',
    );
  }
  let stir = (): void => {};
  let notices: string[] = [];
  let toldWait: string | null = null;
  let schema = '';
  let dirty = true;
  const prepared = new Map<string, string>();

  client.on('notice', ({ message }) => {
    if (message === undefined) return;
    const lock = STILL_WAITING.exec(message)?.[1];
    if (lock === undefined) notices.push(message);
    else toldWait = lock;
    stir();
  });
  // Whatever runs or comes next fails with the reason.
  client.on('error', () => stir());
  // An error comes before the server is ready again, and only then is it known what became of the transaction.
  let isReady = true;
  let onReady = (): void => {};
  client.on('drain', () => {
    isReady = true;
    onReady();
  });
  await client.connect();

  const execute = async (sql: string): Promise<string> => {
    const results = (await client.query(sql)) as unknown as PgResult | PgResult[];
    return (Array.isArray(results) ? results.at(-1) : results)?.command ?? '';
  };
  const settings = tellWaits ? STEADY + TELLING : STEADY;
  try {
    await execute(settings);
    const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid');
    const pid = rows[0]?.pid ?? 0;
    return createSession(pid);
  } catch (error) {
    await client.end();
    throw error;
  }

  function createSession(pid: number): ServerSession {
    const start = (sql: string, params: readonly unknown[]): Running => {
      const running: Running = { outcome: null };
      toldWait = null;
      isReady = false;
      if (LEAVES_TRACES.test(sql)) dirty = true;
      const settle = (outcome: NonNullable<Running['outcome']>): void => {
        running.outcome = outcome;
        stir();
      };
      client.query({ text: sql, values: [...params], ...nameOf(sql) }).then(
        ({ rows, rowCount, command }) =>
          settle({
            value: {
              rows: rows as never[],
              affectedRows: WRITES.has(command) ? (rowCount ?? 0) : 0,
            },
            command,
          }),
        (error: unknown) => {
          onReady = () => {
            onReady = () => {};
            settle({ error });
          };
          // A connection that is gone is never ready again.
          if (isReady || !isServerError(error)) onReady();
        },
      );
      return running;
    };
    const stirred = (): Promise<void> =>
      new Promise((resolve) => {
        stir = resolve;
      });
    return {
      pid,
      tellsWaits: tellWaits,
      get toldWait() {
        return toldWait;
      },
      get status() {
        return client.getTransactionStatus();
      },
      get isIdle() {
        return isReady && client.getTransactionStatus() === 'I';
      },
      takeNotices: () => {
        const taken = notices;
        notices = [];
        return taken;
      },
      start,
      stirred,
      execute,
      query: async <Row extends object>(sql: string, params: readonly unknown[] = []) => {
        const { rows } = await client.query<Row>({
          text: sql,
          values: [...params],
          ...nameOf(sql),
        });
        return { rows };
      },
      enter: async (wanted, isolation) => {
        const key = `${isolation} ${wanted}`;
        if (key === schema && !dirty) return;
        await execute(
          `reset all; ${settings} select pg_advisory_unlock_all();
           set search_path to ${quoteIdentifier(wanted)};
           set default_transaction_isolation to '${isolation}';`,
        );
        schema = key;
        dirty = false;
        notices = [];
      },
      end: () => client.end(),
    };
  }

  /** The name under which the server keeps the statement. The same words mean other tables in another schema. */
  function nameOf(sql: string): { name?: string } {
    const key = `${schema}\n${sql}`;
    let name = prepared.get(key);
    if (name === undefined) {
      if (prepared.size >= MAX_PREPARED) return {};
      name = `sim${prepared.size}`;
      prepared.set(key, name);
    }
    return { name };
  }
}

const WRITES: ReadonlySet<string> = new Set(['INSERT', 'UPDATE', 'DELETE', 'MERGE']);

/** Said by the server, and not by the connection to it. */
function isServerError(error: unknown): boolean {
  return error instanceof DatabaseError;
}
