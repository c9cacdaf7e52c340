import type { Clock } from '../../src/clock.ts';
import type { Database, Queryable } from '../../src/database.ts';
import type { Pool } from './pool.ts';
import type { InvariantName } from './run.ts';

/** A system under test: somebody's code between Sume and a database. */
export interface Integration {
  readonly name: string;
  /** One sentence: how it works, or what its mistake is. */
  readonly text: string;
  /** For an integration that is broken on purpose: the invariants that show its mistake. */
  readonly caughtBy?: readonly InvariantName[];
  /** Set for a mistake that only several connections show: PGlite has one, under which nothing goes wrong. */
  readonly needs?: 'postgres';
  /** The tables that the checker watches, each keyed by a column `job_id`. */
  readonly tables: WatchedTables;
  /**
   * How the checker learns of rows in tables that it does not know; then `tables` only names what can be read.
   * Without them it watches `tables` itself.
   */
  readonly readers?: Readers;
  /** What the checker is not told, and so does not judge: see `Untold`. */
  readonly untold?: readonly Untold[];
  /**
   * `shared`: tasks of one process may share memory beside the database (a cache, a variable outside the handler),
   * so the order of any two steps of a process can matter.
   */
  readonly memory?: 'shared';
  /** Creates the tables. Called once per database. */
  setup(database: DatabaseHandle): Promise<void>;
  /**
   * Starts one process of the integration. Called once for each of submit worker, web process, poller and
   * sweeper, and again after each crash of one: nothing but the database lasts.
   */
  start(ports: Ports): Handlers;
}

/** What an integration may keep to itself: what it has parked, and what sweeps after it. */
export type Untold = 'parked' | 'sweep';

/** Reads committed rows, job by job. Called between steps: reading is no step. */
export interface Readers {
  job(jobId: string, database: DatabaseHandle): Promise<Record<string, unknown> | null>;
  parked?: (jobId: string, database: DatabaseHandle) => Promise<Record<string, unknown> | null>;
  /** How many times the job's end has taken effect. */
  effects?: (jobId: string, database: DatabaseHandle) => Promise<number>;
}

/** The database outside the ports, for making tables and looking at them. */
export interface DatabaseHandle extends Database {
  /** The same in the shape of node-postgres, for Kysely, Drizzle and plain SQL; where the tables are one's own. */
  pool?: Pool;
}

export interface WatchedTables {
  /** With the columns `status` and `result`. */
  jobs: string;
  /** With the columns `event`, `status` and `body`; null if it parks nothing. */
  parked: string | null;
  /** One row for each effect of a job's end; null if it has none. */
  effects: string | null;
  /** Tables that the checker does not watch, and that start empty all the same. */
  others?: readonly string[];
}

export interface Handlers {
  /** Submits one job under its idempotency key, records it, and returns its id. */
  submit(order: Order): Promise<string>;
  /** Answers one webhook delivery. */
  handleWebhook(request: Request): Promise<Response>;
  /** Asks Sume once how the job is, and records what it says. */
  poll(jobId: string): Promise<void>;
  /** Looks after rows that nothing has closed. */
  sweep(): Promise<void>;
}

export interface Order {
  /** The idempotency key. A submit that is called again has the same one. */
  key: string;
  model: string;
  input: Record<string, unknown>;
}

/** Everything that an integration may wait for. A call does nothing until the scheduler lets it. */
export interface Ports {
  fetch: typeof fetch;
  database: Database;
  /** The same in the shape of a node-postgres pool, where the tables are the integration's own. */
  pool?: Pool;
  /** Reads from a copy that may lag behind. */
  replica: Queryable;
  clock: Clock;
  /**
   * Counts work that goes on in another thread, until it is back: an integration whose own code runs elsewhere hands
   * over what it waits for, so that a step is not taken for complete before. Returns it unchanged.
   */
  elsewhere<T>(work: Promise<T>): Promise<T>;
  sume: SumeAccount;
  /** When a row counts as forgotten. */
  patience: Patience;
}

export interface SumeAccount {
  baseUrl: string;
  apiKey: string;
  /** Signing secrets, the current one first. */
  secrets: string[];
  webhookUrl: string;
}

export interface Patience {
  staleAfterMs: number;
  recheckMs: number;
  orphanAfterMs: number;
}
