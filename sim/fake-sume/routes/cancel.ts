import { success, type Answer } from '../answer.ts';
import { QUEUE_WORD } from '../assumptions.ts';
import type { Job } from '../job.ts';
import { jobOf, jobUrls, type Call } from './call.ts';

/**
 * `POST /jobs/{id}/cancel`: ends a job that has not ended. One that has keeps its status, and the answer says
 * `canceled: false`.
 *
 * @param end moves the job to canceled, and pushes the event of that.
 */
export function cancel(call: Call, end: (job: Job) => 'changed' | 'unchanged'): Answer {
  const job = jobOf(call);
  const canceled = end(job) === 'changed';
  job.reported.add(job.status);
  return success({
    request_id: job.id,
    job_id: job.id,
    status: QUEUE_WORD[job.status],
    canceled,
    ...jobUrls(call.baseUrl, job.id),
  });
}
