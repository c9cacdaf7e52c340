import { Refusal } from '../answer.ts';
import type { Arrival } from '../arrival.ts';
import { REFUSALS } from '../assumptions.ts';
import type { Job } from '../job.ts';
import type { Ledger } from '../ledger.ts';

/** One request that was let in: its key is good, its route is known, its body is read. */
export interface Call {
  readonly ledger: Ledger;
  /** Without a slash at the end. */
  readonly baseUrl: string;
  /** The job id or the model id in the path, decoded; empty where the route has none. */
  readonly parameter: string;
  readonly query: URLSearchParams;
  readonly arrival: Arrival;
  /** Empty for a GET. */
  readonly body: string;
}

/** The job in the path of a call. Throws the 404 for an id that Sume never issued. */
export function jobOf(call: Call): Job {
  const job = call.ledger.find(call.parameter);
  if (job === undefined) {
    throw new Refusal(REFUSALS.unknownJob, `There is no job ${JSON.stringify(call.parameter)}.`);
  }
  return job;
}

/** Where to read a job's status and result. */
export function jobUrls(
  baseUrl: string,
  jobId: string,
): { status_url: string; result_url: string } {
  const jobUrl = `${baseUrl}/jobs/${encodeURIComponent(jobId)}`;
  return { status_url: `${jobUrl}/status`, result_url: `${jobUrl}/result` };
}
