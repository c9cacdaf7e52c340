import { DatabaseError } from 'pg';
import type { Integration } from '../world/integration.ts';
import type { Stage, StageDatabase } from '../world/stage.ts';
import { PostgresServerError } from './errors.ts';
import { createLockWaits } from './lock-waits.ts';
import { postgresStage } from './postgres-stage.ts';
import { openServerSession, type DefaultIsolation, type ServerSession } from './server-session.ts';

/** A PostgreSQL server on which schedules are played, statement by statement. */
export interface PostgresServer extends StageDatabase {
  /**
   * Whether backends say themselves that they wait. Where the role may not have them do that, somebody has to look
   * again and again, which is slower.
   */
  readonly tellsWaits: boolean;
  /** Ends every connection and drops every schema that was made. Also in the middle of a schedule. */
  close(): Promise<void>;
}

const INSUFFICIENT_PRIVILEGE = '42501';

/** `create or replace trigger`, and `pg_locks.waitstart`. */
const OLDEST = 14;

/**
 * Connects to a server. Each integration's tables get a schema that is new, and nothing outside it is touched, but
 * for advisory locks, which belong to the whole database: other clients that take the same are waited for.
 *
 * @param url a connection string, as libpq has it. The role needs CREATE in the database; with the right to set
 *   `deadlock_timeout` and `log_lock_waits` (a superuser, or GRANT SET ON PARAMETER) it is faster.
 * @param options.defaultIsolation `default_transaction_isolation` of the sessions under test.
 * @throws {PostgresServerError} when nobody answers, or the server or the role will not do.
 */
export async function openPostgresServer(
  url: string,
  options: { defaultIsolation?: DefaultIsolation } = {},
): Promise<PostgresServer> {
  const { defaultIsolation = 'read committed' } = options;
  const { observer, tellsWaits } = await connect(url);
  const sessions: Promise<ServerSession>[] = [];
  const pids = new Set<number>();
  const stages = new Map<Integration, Promise<Stage>>();
  const schemas: string[] = [];

  const session = (number: number): Promise<ServerSession> => {
    const known = sessions[number];
    if (known !== undefined) return known;
    const opening = openServerSession(url, tellsWaits).then((opened) => {
      pids.add(opened.pid);
      return opened;
    });
    sessions[number] = opening;
    return opening;
  };

  const closeAll = async (): Promise<void> => {
    const opened = (await Promise.allSettled(sessions)).flatMap((result) =>
      result.status === 'fulfilled' ? [result.value] : [],
    );
    // A backend that waits for a lock does not hear that its client has gone.
    const busy = opened.filter(({ isIdle }) => !isIdle).map(({ pid }) => pid);
    if (busy.length > 0) {
      await observer.query('select pg_terminate_backend(pid) from unnest($1::int[]) as pid', [
        busy,
      ]);
    }
    await Promise.allSettled(opened.map((one) => one.end()));
    if (schemas.length > 0) {
      await observer.execute(
        `rollback; set client_min_messages = warning; drop schema ${schemas.join(', ')} cascade`,
      );
    }
    await observer.end();
  };
  let closing: Promise<void> | null = null;

  try {
    await refuseUnfit(observer);
  } catch (error) {
    await observer.end();
    throw error;
  }
  const lockWaits = createLockWaits(observer, (pid) => pids.has(pid));

  return {
    tellsWaits,
    stage: (integration) => {
      const known = stages.get(integration);
      if (known !== undefined) return known;
      const made = (async () => {
        const schema = await createSchema(observer);
        schemas.push(schema);
        return postgresStage({
          schema,
          integration,
          defaultIsolation,
          observer,
          lockWaits,
          session,
        });
      })();
      stages.set(integration, made);
      return made;
    },
    close: () => (closing ??= closeAll()),
  };
}

/** The first connection, which shows what the role may do. */
async function connect(url: string): Promise<{ observer: ServerSession; tellsWaits: boolean }> {
  try {
    return { observer: await openServerSession(url, true), tellsWaits: true };
  } catch (error) {
    if ((error as { code?: unknown }).code !== INSUFFICIENT_PRIVILEGE) throw unreachable(error);
  }
  try {
    return { observer: await openServerSession(url, false), tellsWaits: false };
  } catch (error) {
    throw unreachable(error);
  }
}

function unreachable(error: unknown): PostgresServerError {
  if (error instanceof PostgresServerError) return error;
  // A name that has several addresses gives one error for each, and no message.
  const causes = error instanceof AggregateError ? error.errors : [error];
  const reason = causes.map((cause) => (cause instanceof Error ? cause.message : String(cause)));
  const [what, next] = causes.some((cause) => cause instanceof DatabaseError)
    ? ['does not let us in', 'Check user, password and database']
    : ['cannot be reached', 'Check that it runs, and host and port'];
  return new PostgresServerError(
    'no_server',
    `The PostgreSQL server ${what}: ${reason.join('; ')}. ${next} in the URL ` +
      '(postgres://user:password@host:port/database).',
    { cause: error },
  );
}

async function refuseUnfit(observer: ServerSession): Promise<void> {
  const { rows } = await observer.query<{
    version: string;
    number: number;
    role: string;
    database: string;
    mayCreate: boolean;
  }>(
    `select current_setting('server_version') as version, current_setting('server_version_num')::int as number,
       current_user::text as role, current_database()::text as database,
       has_database_privilege(current_database(), 'CREATE') as "mayCreate"`,
  );
  const [server] = rows;
  if (server === undefined) throw new Error('The server did not say what it is.');
  if (server.number < OLDEST * 10_000) {
    throw new PostgresServerError(
      'server_too_old',
      `The server is PostgreSQL ${server.version}, and ${OLDEST} is the oldest on which waits for locks can be ` +
        'told apart. Name a newer one, or leave the URL out to have one started.',
    );
  }
  if (!server.mayCreate) {
    throw new PostgresServerError(
      'no_rights',
      `The role "${server.role}" may not create a schema in the database "${server.database}". A run makes one of ` +
        'its own, works in it, and drops it in the end. Let it: ' +
        `GRANT CREATE ON DATABASE "${server.database}" TO "${server.role}"; or name another role or database.`,
    );
  }
}

/** The server itself numbers the schema, so the name is new however many runs share the database. */
async function createSchema(observer: ServerSession): Promise<string> {
  const { rows } = await observer.query<{ id: string }>('select pg_current_xact_id()::text as id');
  const schema = `sume_sim_${rows[0]?.id ?? ''}`;
  await observer.execute(`create schema ${schema}`);
  return schema;
}
