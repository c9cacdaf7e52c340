import type { Job, JobError, JobStatus } from './job.ts';
import type { IssuedEvent } from './mailroom.ts';
import type { JsonValue } from './wire-json.ts';

/** What is so about one job, whatever anybody was told. Times are milliseconds since the epoch. */
export interface JobTruth {
  readonly jobId: string;
  readonly model: string;
  readonly idempotencyKey: string | null;
  readonly webhookUrl: string | null;
  readonly status: JobStatus;
  /** Every status it has had, first to last. */
  readonly history: readonly { readonly status: JobStatus; readonly atMs: number }[];
  /** Every status that an answer or a genuine event has named for it; a contradiction counts. */
  readonly reported: readonly JobStatus[];
  /** What the result route answers; not null exactly for a completed job. */
  readonly result: { readonly artifacts: readonly JsonValue[] } | null;
  /** Not null exactly for a job that ended otherwise. */
  readonly error: JobError | null;
  /** The genuine events that Sume decided to send, oldest first. */
  readonly events: readonly {
    readonly event: string;
    readonly eventId: string;
    readonly atMs: number;
  }[];
}

/** Writes down what is so about a job at this moment. */
export function truthOf(job: Job, issued: readonly IssuedEvent[]): JobTruth {
  return {
    jobId: job.id,
    model: job.model,
    idempotencyKey: job.idempotencyKey,
    webhookUrl: job.webhookUrl,
    status: job.status,
    history: job.history.map((entry) => ({ ...entry })),
    reported: [...job.reported],
    result: job.artifacts === null ? null : { artifacts: job.artifacts },
    error: job.error,
    events: issued.map(({ event, eventId, atMs }) => ({ event, eventId, atMs })),
  };
}
