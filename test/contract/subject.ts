import { afterAll, beforeAll, beforeEach } from 'vitest';
import type { Database } from '../../src/database.ts';
import type { TerminalEvent, TerminalEventName } from '../../src/event.ts';
import type { TerminalStatus } from '../../src/status.ts';
import { createReconciler, type Reconciler, type ReconcilerOptions } from '../../src/reconciler.ts';
import { migrate } from '../../src/schema.ts';
import { manualClock, type ManualClock } from '../setup/manual-clock.ts';

/** A database under the contract, and how to let it go. */
export interface OpenDatabase {
  database: Database;
  close: () => Promise<void>;
}

/** What each test of the contract starts from: empty tables, and a clock that stands still. */
export interface Subject {
  readonly database: Database;
  readonly clock: ManualClock;
  readonly prefix: string;
  /** A reconciler over the tables, on the clock. */
  reconciler(options?: Partial<ReconcilerOptions>): Reconciler;
  /** Rows of one of the tables, in the order of their ids. */
  rows(table: 'jobs' | 'parked'): Promise<Record<string, unknown>[]>;
}

let suites = 0;

/** Opens the database and makes tables once per suite; each test finds them empty. */
export function useSubject(
  open: () => Promise<OpenDatabase>,
  defaults: Partial<ReconcilerOptions> = {},
): Subject {
  suites += 1;
  const prefix = `contract_${suites}_`;
  let opened: OpenDatabase;
  let clock: ManualClock;

  beforeAll(async () => {
    opened = await open();
    await migrate(opened.database, { prefix });
  });
  beforeEach(async () => {
    clock = manualClock();
    for (const table of ['jobs', 'parked']) {
      await opened.database.query(`delete from ${prefix}${table}`);
    }
  });
  afterAll(async () => {
    for (const table of ['jobs', 'parked', 'migrations']) {
      await opened.database.query(`drop table ${prefix}${table}`);
    }
    await opened.close();
  });

  return {
    get database() {
      return opened.database;
    },
    get clock() {
      return clock;
    },
    prefix,
    reconciler: (options = {}) =>
      createReconciler({ database: opened.database, clock, prefix, ...defaults, ...options }),
    rows: async (table) => {
      const { rows } = await opened.database.query(
        `select * from ${prefix}${table} order by job_id`,
      );
      return rows;
    },
  };
}

/** A terminal event as Sume would send it, with `url` as its only artifact when it completed. */
export function event(
  jobId: string,
  status: Exclude<TerminalStatus, 'expired'> = 'completed',
  url: string = `https://cdn.example/${jobId}.mp4`,
): TerminalEvent {
  const name: TerminalEventName = `job.${status}`;
  const result = { artifacts: [{ url }] };
  const error = { code: 'render_failed', message: 'The render failed.' };
  const told = status === 'completed' ? { payload: result } : { error };
  // Spaced unlike JSON.stringify: the raw text must survive as it was sent.
  const body = `{ "event" : "${name}", "job_id" : ${JSON.stringify(jobId)}, ${JSON.stringify(told).slice(1)}`;
  return status === 'completed'
    ? { event: name, jobId, status, body, result }
    : { event: name, jobId, status, body, error };
}
