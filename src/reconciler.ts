import { assertCorrelationId, assertEvent, assertSeen } from './assert-input.ts';
import { assertWhole } from './assert-whole.ts';
import { systemClock, type Clock } from './clock.ts';
import type { Database, Queryable } from './database.ts';
import { InputError } from './errors.ts';
import { readEvent, type TerminalEvent } from './event.ts';
import { assertJobId } from './job-id.ts';
import { createJobs, type Job } from './jobs.ts';
import { newsFromAnswer, newsFromEvent, type News, type Payload } from './news.ts';
import { createParking, type ParkedReport, type Unparked } from './parking.ts';
import { readFromSume } from './poll.ts';
import { toleratingRefusal } from './refused-payload.ts';
import { inSavepoint } from './savepoint.ts';
import { createSettle, type OnTerminal, type Settled } from './settle.ts';
import { isTerminal, type JobStatus, type TerminalStatus } from './status.ts';
import type { CallOptions, SumeClient } from './sume-client.ts';
import { createSweeper, type RunOptions, type SweepOptions, type SweepReport } from './sweeper.ts';
import { tableNames } from './table-names.ts';
import { createTransactions, type Concurrency } from './transactions.ts';

/** `conflict`: another terminal status came first, and stays. `parked`: stored until the job is registered. */
export type ReceiveOutcome = 'applied' | 'duplicate' | 'conflict' | 'parked';

/** `reconciled`: an event was waiting and has ended the job. `known`: the row was there. */
export type RegisterOutcome = 'registered' | 'reconciled' | 'known';

/** `stale`: the row stands at least as far already. `inserted`: this call made the row. */
export type AdvanceOutcome = 'applied' | 'stale' | 'unknown_job' | 'inserted';

/** `unknown_status`: Sume used a word that is not known, so nothing was written. */
export type PollOutcome = AdvanceOutcome | 'unknown_status';

export type DismissOutcome = 'dismissed' | 'unknown';

export interface ReconcilerOptions {
  /** The database that is written to, never a replica: what is read here decides what is written. */
  database: Database;
  clock?: Clock | undefined;
  /** Begins the names of the tables; `sume_` by default, as in `migrate`. */
  prefix?: string | undefined;
  /** `locks` by default. The same in every process that uses these tables. */
  concurrency?: Concurrency | undefined;
  /** The longest wait for another writer of the same job, in milliseconds; 5,000 by default. */
  lockTimeoutMs?: number | undefined;
  onTerminal?: OnTerminal | undefined;
  /**
   * How often a transaction is tried in all that loses to another (SQLSTATE 40001, 40P01); 10 by default, and 30
   * at `serializable`, where PostgreSQL also ends transactions whose rows merely share a page of an index.
   */
  maxAttempts?: number | undefined;
}

export interface AdvanceOptions {
  /** Make the row if nobody has. Draining comes first then: a parked end of the job wins. */
  insert?: boolean | undefined;
  /** `{ artifacts: [ … ] }`, with a terminal status only. */
  result?: unknown;
  /** With a terminal status only. */
  error?: unknown;
  /** The raw text that the result was read from; kept where `jsonb` refuses the result. */
  body?: string | undefined;
}

/**
 * The reconciliation core: whatever the order in which webhooks, polls and your own inserts arrive, a job's row
 * only moves forward, an early event waits for its row, and the end of a job happens once.
 *
 * Every call rejects with an `InputError` for what no retry can mend, and with the database's own error when the
 * database failed; nothing is written then, or (a connection lost during COMMIT) the same call made again tells.
 */
export interface Reconciler {
  /** Takes a verified terminal event: ends the job, or parks the event until the job is registered. */
  receive(event: TerminalEvent): Promise<ReceiveOutcome>;
  /**
   * Records a job that was submitted, and applies the event that may be waiting for it, in one transaction.
   *
   * Given `tx`, that is the caller's: it must be at read committed (`IsolationError` otherwise), and it holds
   * the job's lock until it ends, so end it soon. Several jobs in one transaction: in the order of their ids.
   * On a row without a correlation id it fills it.
   */
  register(
    jobId: string,
    options?: { correlationId?: string | undefined },
    tx?: Queryable,
  ): Promise<RegisterOutcome>;
  /** Takes what a poll saw. It only ever raises the rank, so an answer that comes late is `stale`. */
  advance(jobId: string, status: JobStatus, options?: AdvanceOptions): Promise<AdvanceOutcome>;
  /**
   * Asks Sume where the job stands, reads the result only when there is one, and advances. No transaction is
   * open meanwhile. Rejects with the client's error when the status cannot be read; when only the result
   * cannot, the status is written and a sweep fetches the result later.
   */
  poll(
    jobId: string,
    client: Pick<SumeClient, 'status' | 'result'>,
    options?: CallOptions & { insert?: boolean | undefined },
  ): Promise<PollOutcome>;
  /** Closes what webhooks left open; see `SweepOptions`. Any number of processes may sweep at once. */
  sweep(options: SweepOptions): Promise<SweepReport>;
  /** Sweeps again and again until the signal aborts, then resolves. For services without a job runner. */
  run(options: RunOptions): Promise<void>;
  /** Events that wait for their job: alert on the age of the oldest. `rows` holds at most `limit` (100). */
  parked(options?: { limit?: number | undefined }): Promise<ParkedReport>;
  /** An orphan becomes ours: the same as `register`. */
  adopt(jobId: string, options?: { correlationId?: string | undefined }): Promise<RegisterOutcome>;
  /** Lets a parked event go. Its job, if it is ever registered, is closed by polling. */
  dismiss(jobId: string): Promise<DismissOutcome>;
  /** The job's row, or null. */
  job(jobId: string): Promise<Job | null>;
}

const DEFAULT_LOCK_TIMEOUT_MS = 5_000;
/** At serializable, of 20,000 calls on 16 connections one needed 10 tries or more; each try more is 4 times rarer. */
const DEFAULT_MAX_ATTEMPTS = { locks: 10, serializable: 30 } as const;
const DEFAULT_PARKED_LIMIT = 100;

/** Makes a reconciler over the tables that `migrate` created. It holds no state of its own. */
export function createReconciler(options: ReconcilerOptions): Reconciler {
  const {
    database,
    clock = systemClock,
    concurrency = 'locks',
    lockTimeoutMs = DEFAULT_LOCK_TIMEOUT_MS,
    maxAttempts = DEFAULT_MAX_ATTEMPTS[concurrency],
    onTerminal,
  } = options;
  const names = tableNames(options.prefix);
  if (concurrency !== 'locks' && concurrency !== 'serializable') {
    throw new InputError(
      `concurrency is ${JSON.stringify(concurrency)}; it can be "locks" or "serializable".`,
    );
  }
  assertWhole('lockTimeoutMs', lockTimeoutMs);
  assertWhole('maxAttempts', maxAttempts);
  const transactions = createTransactions({ database, concurrency, lockTimeoutMs, maxAttempts });
  const jobs = createJobs(names.jobs, lockTimeoutMs);
  const parking = createParking(names);
  const now = (): string => new Date(clock.now()).toISOString();

  const settle = createSettle({ jobs, maxAttempts, onTerminal });

  /**
   * For a job whose row is there. No lock: the row itself keeps writers apart. A transaction only where a hook
   * must share it, and everything is left to the locked path where there is no lock to spare.
   */
  const settleKnown = async (news: News): Promise<Settled> => {
    if (concurrency === 'serializable') return 'absent';
    if (onTerminal === undefined || !isTerminal(news.status)) {
      return transactions.autocommit((db) => settle(db, news));
    }
    return transactions.run((tx) => settle(tx, news));
  };

  /** Applies and deletes the parked event. `late` when the job had ended otherwise: the row stays. */
  const drain = async (
    tx: Queryable,
    jobId: string,
    payload: Payload,
  ): Promise<'nothing' | 'applied' | 'late'> => {
    const parked = await parking.unpark(tx, jobId);
    if (parked === null) return 'nothing';
    const news = newsFromEvent({ jobId, ...readUnparked(jobId, parked) }, now(), payload);
    return (await settle(tx, news)) === 'applied' ? 'applied' : 'late';
  };

  /** Inserts the row, or fills the correlation id of the one that is there. True when it inserted. */
  const insertOrCorrelate = async (
    tx: Queryable,
    jobId: string,
    correlationId: string | undefined,
  ): Promise<boolean> => {
    const inserted = await jobs.insert(tx, {
      jobId,
      correlationId: correlationId ?? null,
      at: now(),
    });
    if (!inserted && correlationId !== undefined) await jobs.correlate(tx, jobId, correlationId);
    return inserted;
  };

  /** The drain comes last, so that the hook sees the correlation id. */
  const registerIn = async (
    tx: Queryable,
    jobId: string,
    correlationId: string | undefined,
    payload: Payload,
  ): Promise<RegisterOutcome> => {
    const inserted = await insertOrCorrelate(tx, jobId, correlationId);
    if ((await drain(tx, jobId, payload)) === 'applied') return 'reconciled';
    return inserted ? 'registered' : 'known';
  };

  const register: Reconciler['register'] = async (jobId, { correlationId } = {}, tx) => {
    assertJobId(jobId);
    if (correlationId !== undefined) assertCorrelationId(correlationId);
    if (tx === undefined) {
      return toleratingRefusal((payload) =>
        transactions.runLocked(jobId, (own) => registerIn(own, jobId, correlationId, payload)),
      );
    }
    return transactions.join(tx, jobId, async () => {
      // Under the lock nobody else parks, so what is not there now will not be there at the commit.
      if (!(await parking.holds(tx, jobId))) {
        return (await insertOrCorrelate(tx, jobId, correlationId)) ? 'registered' : 'known';
      }
      // The caller's transaction cannot be run again, and the caller may catch what a hook throws and commit all
      // the same. So the whole of it can be undone: a refused payload is tried once more without, and after any
      // other error the transaction is as it was.
      return toleratingRefusal((payload) =>
        inSavepoint(tx, () => registerIn(tx, jobId, correlationId, payload)),
      );
    });
  };

  const advance: Reconciler['advance'] = async (jobId, status, seen = {}) => {
    assertJobId(jobId);
    assertSeen(status, seen);
    return toleratingRefusal(async (payload) => {
      const news = newsFromAnswer({ jobId, status, ...seen }, now(), payload);
      const known = await settleKnown(news);
      if (known !== 'absent') return known === 'applied' ? 'applied' : 'stale';
      if (seen.insert !== true && concurrency === 'locks') return 'unknown_job';
      return transactions.runLocked(jobId, async (tx) => {
        const inserted =
          seen.insert === true &&
          (await jobs.insert(tx, { jobId, correlationId: null, at: now() }));
        if (inserted) await drain(tx, jobId, payload);
        const settled = await settle(tx, news);
        if (inserted) return 'inserted';
        if (settled === 'absent') return 'unknown_job';
        return settled === 'applied' ? 'applied' : 'stale';
      });
    });
  };

  const reconciler: Reconciler = {
    receive: async (event) => {
      assertEvent(event);
      return toleratingRefusal(async (payload) => {
        const news = newsFromEvent(event, now(), payload);
        const known = await settleKnown(news);
        if (known !== 'absent') return RECEIVED[known];
        return transactions.runLocked(event.jobId, async (tx) => {
          const settled = await settle(tx, news);
          if (settled !== 'absent') return RECEIVED[settled];
          await parking.park(tx, { ...event, body: news.body ?? event.body }, news.at);
          return 'parked';
        });
      });
    },
    register,
    advance,
    poll: async (jobId, client, pollOptions = {}) => {
      assertJobId(jobId);
      const told = await readFromSume(client, jobId, { signal: pollOptions.signal });
      if (told.status === null) return 'unknown_status';
      return advance(jobId, told.status, {
        insert: pollOptions.insert,
        result: told.result,
        body: told.body,
      });
    },
    sweep: (sweepOptions) => sweeper.sweep(sweepOptions),
    run: (runOptions) => sweeper.run(runOptions),
    parked: async ({ limit = DEFAULT_PARKED_LIMIT } = {}) => {
      assertWhole('limit', limit);
      const { count, oldest } = await parking.count(database);
      return {
        count,
        oldestAgeMs: oldest === null ? null : clock.now() - oldest.getTime(),
        rows: await parking.list(database, limit),
      };
    },
    adopt: (jobId, adoptOptions) => register(jobId, adoptOptions),
    dismiss: async (jobId) => {
      assertJobId(jobId);
      const gone = await transactions.autocommit((db) => parking.dismiss(db, jobId));
      return gone ? 'dismissed' : 'unknown';
    },
    job: async (jobId) => {
      assertJobId(jobId);
      return jobs.read(database, jobId);
    },
  };

  const sweeper = createSweeper({
    transactions,
    parking,
    clock,
    jobsTable: names.jobs,
    lockTimeoutMs,
    advance,
    register,
  });
  return reconciler;
}

const RECEIVED: Readonly<Record<Exclude<Settled, 'absent'>, ReceiveOutcome>> = {
  applied: 'applied',
  same: 'duplicate',
  other: 'conflict',
};

/** The raw text is what was signed, so it is read again; the columns beside it are the fallback. */
function readUnparked(
  jobId: string,
  parked: Unparked,
): { status: TerminalStatus; body: string; result?: unknown; error?: unknown } {
  const reading = readEvent(parked.body);
  if (reading.kind === 'terminal' && reading.event.jobId === jobId) return reading.event;
  return { status: parked.status, body: parked.body };
}
