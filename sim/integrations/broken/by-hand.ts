import type { Queryable, TerminalEvent } from '../../../src/index.ts';
import type { Ports } from '../../world/integration.ts';
import {
  deleteParked,
  findParked,
  insertJob,
  jobExists,
  parkEvent,
  updateJob,
} from './statements.ts';

/** The two halves of the published pattern, and its sweep. What is wrong is how each is run, not what it says. */

/** Inserts the job, and applies and deletes the event that may be parked for it. */
export async function insertAndDrain(
  on: Queryable,
  jobId: string,
  correlationId: string,
  at: Date,
): Promise<void> {
  await insertJob(on, jobId, correlationId, at);
  const parked = await findParked(on, jobId);
  if (parked === null) return;
  await updateJob(on, parked, at);
  await deleteParked(on, jobId);
}

/** Looks for the job: writes its end if it is there, else parks the event. */
export async function lookThenParkEvent(
  on: Queryable,
  event: TerminalEvent,
  at: Date,
): Promise<'applied' | 'duplicate' | 'parked'> {
  if (await jobExists(on, event.jobId)) {
    return (await updateJob(on, event, at)) > 0 ? 'applied' : 'duplicate';
  }
  await parkEvent(on, event, at);
  return 'parked';
}

/** Ids of the open jobs that nothing has moved for longer than they may take. */
export async function forgottenJobs({ database, clock, patience }: Ports): Promise<string[]> {
  const { rows } = await database.query<{ job_id: string }>(
    'select job_id from sume_jobs where rank < 2 and updated_at < $1 order by job_id',
    [new Date(clock.now() - patience.staleAfterMs)],
  );
  return rows.map(({ job_id: jobId }) => jobId);
}
