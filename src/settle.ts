import type { Queryable } from './database.ts';
import { ContentionError } from './errors.ts';
import type { Jobs, Standing } from './jobs.ts';
import type { News } from './news.ts';
import { isTerminal, type TerminalStatus } from './status.ts';

/** A job at the moment it ended, as it was written. */
export interface TerminalJob {
  jobId: string;
  status: TerminalStatus;
  result: unknown;
  error: unknown;
  correlationId: string | null;
  terminalAt: Date;
}

/**
 * Runs in the transaction of the one write that ended the job, by whatever path, and in no other. What it writes
 * through `tx` is committed with the end of the job or not at all. Throwing rolls that write back. A transaction
 * that lost a race is run again, so effects outside the database do not belong here: write them down, and let
 * another process do them.
 */
export type OnTerminal = (job: TerminalJob, tx: Queryable) => Promise<void> | void;

/** `same` and `other`: the row stands as far already, with this status or another. */
export type Settled = 'applied' | 'same' | 'other' | 'absent';

/** Writes news to the row if they raise its rank, and says what came of it. */
export type Settle = (db: Queryable, news: News) => Promise<Settled>;

/**
 * The one way in which a job moves: the guarded update, and only when it changed no row a second statement that
 * tells why. Two statements, each with its own snapshot: told from inside the update, the answer would be from
 * before the wait for the row.
 */
export function createSettle(core: {
  jobs: Jobs;
  maxAttempts: number;
  onTerminal: OnTerminal | undefined;
}): Settle {
  const { jobs, maxAttempts, onTerminal } = core;

  const raise: (db: Queryable, news: News) => Promise<boolean> = async (db, news) => {
    if (news.rank === 0) return false;
    if (onTerminal === undefined || !isTerminal(news.status)) return jobs.raise(db, news);
    const raised = await jobs.endReturning(db, news);
    if (raised === null) return false;
    await onTerminal(terminalJobOf(news, news.status, raised.correlationId), db);
    return true;
  };

  return async (db, news) => {
    for (let attempt = 1; attempt <= maxAttempts; attempt += 1) {
      if (await raise(db, news)) return 'applied';
      const standing = await jobs.look(db, news.jobId);
      if (standing === null) return 'absent';
      if (standing.rank >= news.rank) {
        if (standing.status !== news.status) return 'other';
        if (isTerminal(news.status) && fills(standing, news)) await jobs.fill(db, news);
        return 'same';
      }
      // The row was inserted or raised between the two statements: the update has something to do now.
    }
    throw new ContentionError(news.jobId, maxAttempts);
  };
}

/** Whether later news of the same end hold something that the row lacks. */
function fills(row: Standing, news: News): boolean {
  return (
    (row.lacksResult && news.result !== null) ||
    (row.lacksError && news.error !== null) ||
    (row.lacksResult && row.lacksError && row.lacksBody && news.body !== null)
  );
}

function terminalJobOf(
  news: News,
  status: TerminalStatus,
  correlationId: string | null,
): TerminalJob {
  return {
    jobId: news.jobId,
    status,
    result: news.result === null ? null : JSON.parse(news.result),
    error: news.error === null ? null : JSON.parse(news.error),
    correlationId,
    terminalAt: new Date(news.at),
  };
}
