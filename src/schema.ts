import type { Database, Queryable } from './database.ts';
import { takeLock } from './job-lock.ts';
import { sqlStateOf } from './sqlstate.ts';
import { tableNames, type TableNames } from './table-names.ts';
import { inTransaction } from './transactions.ts';

/** Ordered for ever: a version that was released is never edited, only followed. */
const MIGRATIONS: readonly ((names: TableNames) => readonly string[])[] = [
  ({ jobs, parked }) => [
    `create table if not exists ${jobs} (
       job_id text primary key,
       status text not null,
       rank smallint not null,
       result jsonb,
       error jsonb,
       body text,
       correlation_id text,
       created_at timestamptz not null,
       updated_at timestamptz not null,
       terminal_at timestamptz,
       checked_at timestamptz
     )`,
    // Not unique: a re-submission is a second job for the same thing of yours.
    `create index if not exists ${jobs}_correlation_id on ${jobs} (correlation_id)`,
    // What the sweeper looks for. Partial, so that they stay small however many jobs have ended.
    `create index if not exists ${jobs}_open on ${jobs} (updated_at) where rank < 2`,
    `create index if not exists ${jobs}_no_result on ${jobs} (terminal_at)
       where status = 'completed' and result is null and body is null`,
    `create table if not exists ${parked} (
       job_id text primary key,
       event text not null,
       status text not null,
       body text not null,
       received_at timestamptz not null,
       deliveries int not null
     )`,
  ],
];

/** Long enough for a migration of a large table in another process. */
const LOCK_TIMEOUT_MS = 60_000;
const MAX_ATTEMPTS = 10;

/**
 * Creates the core's tables, or brings them up to date. Any number of processes may call it at the same time,
 * at every start; when there is nothing to do it costs one read. Options: `prefix` of the table names (default
 * `sume_`; see `tableNames` for what is refused). Errors of the database come through as they are.
 */
export async function migrate(
  database: Database,
  options: { prefix?: string | undefined } = {},
): Promise<void> {
  const names = tableNames(options.prefix);
  if ((await currentVersion(database, names)) >= MIGRATIONS.length) return;
  let withLock = true;
  for (let attempt = 1; ; attempt += 1) {
    try {
      await inTransaction(database, 'read committed', (tx) => bringUpToDate(tx, names, withLock));
      return;
    } catch (error) {
      const state = sqlStateOf(error);
      if (withLock && (state === '42883' || state === '0A000')) withLock = false;
      else if (attempt >= MAX_ATTEMPTS || !isLostRace(state)) throw error;
    }
  }
}

/** 0 when nothing was migrated yet. */
async function currentVersion(database: Queryable, names: TableNames): Promise<number> {
  try {
    const { rows } = await database.query<{ version: number }>(
      `select version from ${names.migrations} order by version desc limit 1`,
    );
    return rows[0]?.version ?? 0;
  } catch (error) {
    if (sqlStateOf(error) === '42P01') return 0; // undefined table
    throw error;
  }
}

async function bringUpToDate(tx: Queryable, names: TableNames, withLock: boolean): Promise<void> {
  if (withLock) await takeLock(tx, names.migrations, LOCK_TIMEOUT_MS);
  await tx.query(`create table if not exists ${names.migrations} (version int primary key)`);
  const current = await currentVersion(tx, names);
  for (const [index, statements] of MIGRATIONS.entries()) {
    const version = index + 1;
    if (version <= current) continue;
    for (const statement of statements(names)) await tx.query(statement);
    await tx.query(`insert into ${names.migrations} (version) values ($1)`, [version]);
  }
}

/**
 * Two processes that create the same thing without a lock collide in PostgreSQL's catalogue, `if not exists` or
 * not: unique violation, duplicate table or object, "tuple concurrently updated". The winner's work is there
 * on the next try.
 */
function isLostRace(state: string | null): boolean {
  return state !== null && ['23505', '42P07', '42710', 'XX000', '40001', '40P01'].includes(state);
}
