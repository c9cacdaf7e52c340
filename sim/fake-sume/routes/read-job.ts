import { Refusal, success, type Answer } from '../answer.ts';
import { jobType, NEXT_ACTION, QUEUE_WORD, REFUSALS } from '../assumptions.ts';
import { isTerminal, type Job } from '../job.ts';
import type { JsonObject } from '../wire-json.ts';
import { jobOf, jobUrls, type Call } from './call.ts';

/** `GET /jobs/{id}`: the whole job, with its input. */
export function readJob(call: Call): Answer {
  return success(wholeJob(jobOf(call)));
}

/** A job as the whole-job and the list route show it. */
export function wholeJob(job: Job): JsonObject {
  job.reported.add(job.status);
  return {
    id: job.id,
    type: jobType(job.model),
    model: job.model,
    status: job.status,
    mode: job.mode,
    input: job.input,
    webhook_url: job.webhookUrl,
    idempotency_key: job.idempotencyKey,
    error: job.error === null ? null : { ...job.error },
    created_at: isoTime(job.createdAtMs),
    updated_at: isoTime(job.updatedAtMs),
    terminal_at: job.terminalAtMs === null ? null : isoTime(job.terminalAtMs),
  };
}

/** `GET /jobs/{id}/status`: where it is, in both spellings, and what to do next. */
export function readStatus(call: Call): Answer {
  const job = jobOf(call);
  job.reported.add(job.status);
  return success({
    request_id: job.id,
    job_id: job.id,
    status: QUEUE_WORD[job.status],
    sume_status: job.status,
    terminal: isTerminal(job.status),
    result_ready: job.status === 'completed',
    next_action: NEXT_ACTION[job.status],
    ...jobUrls(call.baseUrl, job.id),
    job: { id: job.id, type: jobType(job.model), status: job.status },
  });
}

/** `GET /jobs/{id}/result`: the outputs of a completed job; for any other a 409 that says why not. */
export function readResult(call: Call): Answer {
  const job = jobOf(call);
  job.reported.add(job.status);
  if (!isTerminal(job.status)) {
    throw new Refusal(
      REFUSALS.resultNotReady,
      `The job is ${job.status}: wait until its status says terminal or result_ready.`,
      { details: { job_id: job.id, sume_status: job.status } },
    );
  }
  if (job.artifacts === null) {
    throw new Refusal(REFUSALS.resultUnavailable, `The job is ${job.status} and has no result.`, {
      details: {
        job_id: job.id,
        sume_status: job.status,
        error: job.error === null ? null : { ...job.error },
      },
    });
  }
  return success({
    request_id: job.id,
    status: QUEUE_WORD[job.status],
    result: { artifacts: job.artifacts },
  });
}

/** `GET /jobs/{id}/events?limit=`: what happened to the job, webhook attempts among it, oldest first. */
export function readEvents(call: Call, limit: number): Answer {
  const job = jobOf(call);
  return success({
    request_id: job.id,
    job_id: job.id,
    events: job.log.slice(-limit).map(({ type, summary, atMs, details }) => ({
      type,
      summary,
      created_at: isoTime(atMs),
      ...details,
    })),
  });
}

function isoTime(timeMs: number): string {
  return new Date(timeMs).toISOString();
}
