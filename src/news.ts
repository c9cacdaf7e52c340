import { rankOf, type JobStatus, type Rank } from './status.ts';
import { storableJson, storableText } from './storable-json.ts';

/** What somebody learnt of a job, in the form in which it goes into the row. */
export interface News {
  jobId: string;
  status: JobStatus;
  rank: Rank;
  /** JSON text for a `jsonb` column, or null. */
  result: string | null;
  error: string | null;
  /** Raw text, or null. */
  body: string | null;
  /** ISO 8601, from the clock. */
  at: string;
}

/**
 * Whether result and error go along. `dropped` is the second try, after `jsonb` refused one of them: the status
 * and the raw text are written all the same.
 */
export type Payload = 'kept' | 'dropped';

/** The raw text has been signed, so it is kept beside what was read from it. */
export function newsFromEvent(
  event: { jobId: string; status: JobStatus; body: string; result?: unknown; error?: unknown },
  at: string,
  payload: Payload,
): News {
  return {
    jobId: event.jobId,
    status: event.status,
    rank: rankOf(event.status),
    result: payload === 'kept' ? storableJson(event.result) : null,
    error: payload === 'kept' ? storableJson(event.error) : null,
    body: storableText(event.body),
    at,
  };
}

/** The raw text of an answer is kept only where `jsonb` could not hold the result that was read from it. */
export function newsFromAnswer(
  answer: {
    jobId: string;
    status: JobStatus;
    result?: unknown;
    error?: unknown;
    body?: string | undefined;
  },
  at: string,
  payload: Payload,
): News {
  const result = payload === 'kept' ? storableJson(answer.result) : null;
  return {
    jobId: answer.jobId,
    status: answer.status,
    rank: rankOf(answer.status),
    result,
    error: payload === 'kept' ? storableJson(answer.error) : null,
    body: result === null && answer.body !== undefined ? storableText(answer.body) : null,
    at,
  };
}
