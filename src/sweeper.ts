import { assertWhole } from './assert-whole.ts';
import { createClaims } from './claims.ts';
import type { Clock } from './clock.ts';
import { SumeApiError } from './errors.ts';
import type { ParkedEvent, Parking } from './parking.ts';
import { readFromSume } from './poll.ts';
import type { AdvanceOutcome, Reconciler, RegisterOutcome } from './reconciler.ts';
import type { JobStatus } from './status.ts';
import type { JobAnswer, SumeClient } from './sume-client.ts';
import type { Transactions } from './transactions.ts';

export interface SweepOptions {
  client: Pick<SumeClient, 'status' | 'result' | 'job'>;
  /** Open jobs are asked about once their row was not raised for this long: the longest render to expect. */
  staleAfterMs: number;
  /** How long to leave a row alone after it was asked about. */
  recheckMs: number;
  /** Parked events are reported as orphans from this age on: a few minutes. */
  orphanAfterMs: number;
  /** The most rows of each kind in one sweep; 100 by default. */
  limit?: number | undefined;
  /** The most requests to Sume at a time; 4 by default. */
  concurrency?: number | undefined;
  /** Ends the sweep early. Rows not asked about are due again at once. */
  signal?: AbortSignal | undefined;
}

export interface RunOptions extends SweepOptions {
  /** The pause between two sweeps; longer where Sume asked for it. */
  everyMs: number;
  /** Ends the loop. */
  signal: AbortSignal;
  /** Receives each report. */
  onReport?: ((report: SweepReport) => void) | undefined;
  /** Receives what made a whole sweep fail, such as a database that is down; `console.error` by default. */
  onError?: ((error: unknown) => void) | undefined;
}

export interface SweepReport {
  /** One entry for each row taken up: leftovers, then stale rows, then missing results, then orphans. */
  rows: SweepRow[];
  /** How long Sume asked to wait, in milliseconds, at most an hour; the rest of the sweep was put off by it. */
  retryAfterMs: number | null;
}

/**
 * `failed` is that row's own failure, with its `error`; nothing was written and the row comes up again.
 * `deferred`: not asked about, because Sume asked to wait or the sweep was ended.
 */
export type SweepRow =
  /** A parked event whose job is there: applied, or dropped because the job had ended. */
  | { kind: 'leftover'; jobId: string; outcome: RegisterOutcome | 'failed'; error?: unknown }
  /** An open job: what Sume says of it, and what came of writing that. */
  | {
      kind: 'stale';
      jobId: string;
      outcome: AdvanceOutcome | 'unknown_status' | 'failed' | 'deferred';
      /** The word that Sume used. */
      word?: string | null;
      status?: JobStatus | null;
      /** Why the result of a completed job is missing; a later sweep asks again. */
      resultError?: unknown;
      error?: unknown;
    }
  /** A completed job without its result. */
  | { kind: 'result'; jobId: string; outcome: 'filled' | 'failed' | 'deferred'; error?: unknown }
  /** A parked event that nobody claimed. `job` is what Sume says: adopting or dismissing it is your policy. */
  | {
      kind: 'orphan';
      jobId: string;
      outcome: 'found' | 'failed' | 'deferred';
      parked: ParkedEvent;
      job?: JobAnswer;
      error?: unknown;
    };

export interface Sweeper {
  sweep(options: SweepOptions): Promise<SweepReport>;
  run(options: RunOptions): Promise<void>;
}

/** One answer with a mistaken Retry-After must not put jobs to sleep for years. */
const LONGEST_WAIT_MS = 3_600_000;
const DEFAULT_LIMIT = 100;
const DEFAULT_CONCURRENCY = 4;

export function createSweeper(core: {
  transactions: Transactions;
  parking: Parking;
  clock: Clock;
  jobsTable: string;
  lockTimeoutMs: number;
  advance: Reconciler['advance'];
  register: Reconciler['register'];
}): Sweeper {
  const { transactions, parking, clock, advance, register } = core;
  const claims = createClaims(core.jobsTable, core.lockTimeoutMs);
  const ago = (nowMs: number, ms: number): string => new Date(nowMs - ms).toISOString();

  const drainLeftover = async (jobId: string): Promise<SweepRow> => {
    try {
      return { kind: 'leftover', jobId, outcome: await register(jobId) };
    } catch (error) {
      return { kind: 'leftover', jobId, outcome: 'failed', error };
    }
  };

  const pollStale = async (options: SweepOptions, jobId: string): Promise<SweepRow> => {
    const { client, signal } = options;
    try {
      const told = await readFromSume(client, jobId, { signal });
      const { status, word, resultError } = told;
      const outcome =
        status === null
          ? 'unknown_status'
          : await advance(jobId, status, { result: told.result, body: told.body });
      return {
        kind: 'stale',
        jobId,
        outcome,
        word,
        status,
        ...(resultError === undefined ? {} : { resultError }),
      };
    } catch (error) {
      return { kind: 'stale', jobId, outcome: 'failed', error };
    }
  };

  const fetchResult = async (options: SweepOptions, jobId: string): Promise<SweepRow> => {
    const { client, signal } = options;
    try {
      const { result, body } = await client.result(jobId, { signal });
      await advance(jobId, 'completed', { result, body });
      return { kind: 'result', jobId, outcome: 'filled' };
    } catch (error) {
      return { kind: 'result', jobId, outcome: 'failed', error };
    }
  };

  const lookUpOrphan = async (options: SweepOptions, parked: ParkedEvent): Promise<SweepRow> => {
    const { jobId } = parked;
    try {
      const job = await options.client.job(jobId, { signal: options.signal });
      return { kind: 'orphan', jobId, outcome: 'found', parked, job };
    } catch (error) {
      return { kind: 'orphan', jobId, outcome: 'failed', parked, error };
    }
  };

  const sweep = async (options: SweepOptions): Promise<SweepReport> => {
    const { limit = DEFAULT_LIMIT, concurrency = DEFAULT_CONCURRENCY, signal } = options;
    const { staleAfterMs, recheckMs, orphanAfterMs } = options;
    assertWhole('staleAfterMs', staleAfterMs, 0);
    assertWhole('recheckMs', recheckMs, 0);
    assertWhole('orphanAfterMs', orphanAfterMs, 0);
    assertWhole('limit', limit);
    assertWhole('concurrency', concurrency);

    const rows: SweepRow[] = [];
    let retryAfterMs: number | null = null;
    const ended = (): boolean => signal?.aborted === true;
    const mayAsk = (): boolean => retryAfterMs === null && !ended();
    /** Asks about rows in their order, a few at a time, until Sume asks to wait. */
    const ask = async <Item>(
      items: readonly Item[],
      each: (item: Item) => Promise<SweepRow>,
      deferred: (item: Item) => SweepRow,
    ): Promise<SweepRow[]> => {
      const answers: SweepRow[] = [];
      let next = 0;
      const worker = async (): Promise<void> => {
        while (next < items.length && mayAsk()) {
          const index = next;
          next += 1;
          const item = items[index] as Item;
          const row = await each(item);
          // What the end of the sweep cut short is no failure of that row.
          answers[index] = row.outcome === 'failed' && ended() ? deferred(item) : row;
          retryAfterMs = longer(retryAfterMs, waitAskedBy(row));
        }
      };
      await Promise.all(Array.from({ length: Math.min(concurrency, items.length) }, worker));
      return items.map((item, index) => answers[index] ?? deferred(item));
    };
    /** The same for claimed rows: what could not be asked about is given back. */
    const askClaimed = async (
      claim: (now: string, recheckBefore: string) => Promise<string[]>,
      each: (jobId: string) => Promise<SweepRow>,
      deferred: (jobId: string) => SweepRow,
    ): Promise<void> => {
      if (!mayAsk()) return;
      const nowMs = clock.now();
      const claimedAt = ago(nowMs, 0);
      const jobIds = await claim(claimedAt, ago(nowMs, recheckMs));
      const asked = await ask(jobIds, each, deferred);
      rows.push(...asked);
      const putOff = asked
        .filter((row) => row.outcome === 'deferred' || waitAskedBy(row) !== null)
        .map((row) => row.jobId);
      // Kept in the database, so that every sweeper leaves these rows alone until Sume's time is up.
      const checkedAt = retryAfterMs === null ? null : ago(clock.now() + retryAfterMs, recheckMs);
      await transactions.autocommit((db) => claims.giveBack(db, putOff, claimedAt, checkedAt));
    };

    for (const jobId of await transactions.autocommit((db) => parking.leftovers(db, limit))) {
      rows.push(await drainLeftover(jobId));
    }
    await askClaimed(
      (now, recheckBefore) => {
        const staleBefore = ago(clock.now(), staleAfterMs);
        return transactions.autocommit((db) =>
          claims.stale(db, { now, recheckBefore, limit, staleBefore }),
        );
      },
      (jobId) => pollStale(options, jobId),
      (jobId) => ({ kind: 'stale', jobId, outcome: 'deferred' }),
    );
    await askClaimed(
      (now, recheckBefore) =>
        transactions.autocommit((db) => claims.resultless(db, { now, recheckBefore, limit })),
      (jobId) => fetchResult(options, jobId),
      (jobId) => ({ kind: 'result', jobId, outcome: 'deferred' }),
    );
    const orphans = await transactions.autocommit((db) =>
      parking.orphans(db, ago(clock.now(), orphanAfterMs), limit),
    );
    rows.push(
      ...(await ask(
        orphans,
        (parked) => lookUpOrphan(options, parked),
        (parked) => ({ kind: 'orphan', jobId: parked.jobId, outcome: 'deferred', parked }),
      )),
    );
    return { rows, retryAfterMs };
  };

  const run = async (options: RunOptions): Promise<void> => {
    const { everyMs, signal, onReport, onError = console.error } = options;
    assertWhole('everyMs', everyMs);
    while (!signal.aborted) {
      let waitMs = everyMs;
      try {
        const report = await sweep(options);
        waitMs = Math.max(everyMs, report.retryAfterMs ?? 0);
        onReport?.(report);
      } catch (error) {
        onError(error);
      }
      try {
        await clock.sleep(waitMs, signal);
      } catch (error) {
        if (!signal.aborted) throw error;
      }
    }
  };

  return { sweep, run };
}

/** How long the answer to this row asked to wait, in milliseconds, or null. */
function waitAskedBy(row: SweepRow): number | null {
  const errors = [
    'error' in row ? row.error : undefined,
    'resultError' in row ? row.resultError : undefined,
  ];
  let wait: number | null = null;
  for (const error of errors) {
    if (error instanceof SumeApiError && error.retryAfterMs !== null) {
      wait = longer(wait, Math.min(error.retryAfterMs, LONGEST_WAIT_MS));
    }
  }
  return wait;
}

function longer(a: number | null, b: number | null): number | null {
  if (a === null) return b;
  if (b === null) return a;
  return Math.max(a, b);
}
