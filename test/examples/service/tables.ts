import { migrate, type Database } from '../../../src/index.ts';

/**
 * Creates the core's tables and the service's own, then does `more` and gives what comes of it. Processes that
 * start together do this one after the other: two that create the same thing collide in PostgreSQL's catalogue,
 * `if not exists` or not, and two that create pg-boss's queues are a deadlock.
 */
export async function prepareDatabase<T>(database: Database, more: () => Promise<T>): Promise<T> {
  await migrate(database);
  return database.transaction(async (tx) => {
    await tx.query(`select pg_advisory_xact_lock(hashtextextended('orders', 0))`);
    for (const statement of STATEMENTS) await tx.query(statement);
    return more();
  });
}

const STATEMENTS = [
  // `request` is what Sume was asked at the first try: an idempotency key goes with one body, so a retry must not
  // use what the configuration says by then.
  `create table if not exists orders (
     order_id text primary key,
     request jsonb not null,
     placed_at timestamptz not null,
     job_id text unique,
     refusal text
   )`,
  `create index if not exists orders_waiting on orders (placed_at)
     where job_id is null and refusal is null`,
  // What is to be done about a job that ended, for whoever mails, bills or publishes.
  `create table if not exists outbox (
     id bigint generated always as identity primary key,
     order_id text,
     job_id text not null,
     status text not null,
     created_at timestamptz not null
   )`,
];
