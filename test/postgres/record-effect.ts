import type { Queryable, TerminalJob } from '../../src/index.ts';

/** An `onTerminal` hook: the effect of a job's end, written in the transaction that ended it. */
export async function recordEffect(job: TerminalJob, tx: Queryable): Promise<void> {
  await tx.query('insert into effects (job_id) values ($1)', [job.jobId]);
}
