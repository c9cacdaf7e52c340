import type { DatabaseHandle, Order, Ports } from '../world/integration.ts';
import type { Pool } from '../world/pool.ts';

/** A team's own integration, on its own tables: what `checkIntegration` checks. */
export interface IntegrationUnderTest {
  /** What reports and tokens call it; `integration` by default. */
  readonly name?: string;
  /**
   * Creates the tables, once. They are emptied before every schedule, rows that `setup` wrote included, and
   * sequences begin again.
   */
  setup(database: TestDatabase): Promise<void> | void;
  /**
   * Starts one process. Called for each of submit worker, web process, poller and sweeper, and again after each
   * crash of one: nothing but the database lasts. All that it may wait for is in `ports`.
   */
  start(ports: TestPorts): TestHandlers;
  /**
   * The committed row of a Sume job, or null (undefined too) while there is none. `status` is in Sume's words:
   * `queued`, `processing`, `completed`, `failed`, `canceled`, `expired`. `result` is what Sume gave as the result, or
   * null; leave the property out if the tables do not keep it as it came, and results are not judged.
   */
  readJob(jobId: string, database: TestDatabase): Promise<JobView | null | undefined>;
  /**
   * The event that waits for its job, or null. Without it whatever is parked is not judged: see `unchecked` of
   * the result.
   */
  readParked?: (jobId: string, database: TestDatabase) => Promise<ParkedView | null | undefined>;
  /** How many times what a job's end sets off has happened: 0, 1, and never 2. Without it effects are not judged. */
  readEffects?: (jobId: string, database: TestDatabase) => Promise<number | string>;
  /** Says that something outside this code closes forgotten jobs; then nobody waits for them to be closed here. */
  readonly sweep?: 'elsewhere';
  /**
   * Says that handlers keep nothing in memory from one call to the next, but in the database alone. A search of every
   * order then has far fewer to run. Without it the order of any two steps of a process counts.
   */
  readonly memory?: 'none';
  /** Says that the code calls the global `fetch`, which is the simulation's while a schedule runs. */
  readonly fetch?: 'global';
}

/** What an integration does. One that has no `poll` or no `sweep` does nothing there. */
export interface TestHandlers {
  /** Submits one job under its idempotency key and records it. Called again with the same key after a crash. */
  submit(order: Order): Promise<unknown>;
  /** Answers one webhook. */
  handleWebhook(request: Request): Promise<Response> | Response;
  /** Asks Sume once how the job is, and records what it says. */
  poll?: (jobId: string) => Promise<unknown>;
  /** Looks after jobs that nothing has closed: those that are older than `ports.patience` says. */
  sweep?: () => Promise<unknown>;
}

/** Everything that an integration may wait for. A call does nothing until the schedule lets it. */
export interface TestPorts extends Omit<Ports, 'pool'> {
  /** `database` in the shape of a node-postgres pool. */
  pool: Pool;
}

/** The database outside the ports: looking is no step. It works in `setup` and in the readers, and nowhere else. */
export interface TestDatabase extends DatabaseHandle {
  /** In the shape of a node-postgres pool, for Kysely, Drizzle and plain SQL. */
  pool: Pool;
}

export interface JobView {
  status: string;
  result?: unknown;
}

export interface ParkedView {
  /** The end that it tells, in Sume's words. */
  status: string;
  event?: string;
  body?: string;
}
