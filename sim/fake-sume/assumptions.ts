/**
 * Everything about Sume's wire that no source says and that we had to decide. One edit here corrects the fake.
 * All other facts come from Sume's published texts, its docs or its public command-line client.
 */
import type { JobStatus } from './job.ts';
import type { RouteName } from './route-table.ts';

/** How long Sume waits for a receiver's answer before an attempt counts as failed. */
export const ATTEMPT_LIMIT_MS = 10_000;

/** The word for each status in the `status` field of answers, in the style of a queue. */
export const QUEUE_WORD: Readonly<Record<JobStatus, string>> = {
  queued: 'IN_QUEUE',
  processing: 'IN_PROGRESS',
  completed: 'COMPLETED',
  failed: 'FAILED',
  canceled: 'CANCELED',
  expired: 'EXPIRED',
};

/** What a status answer tells its reader to do next. `fetch_result` is known; the others are ours. */
export const NEXT_ACTION: Readonly<Record<JobStatus, string>> = {
  queued: 'poll_status',
  processing: 'poll_status',
  completed: 'fetch_result',
  failed: 'inspect_error',
  canceled: 'none',
  expired: 'none',
};

/** The error of a job that ended without a result, where its ending gave none. */
export const DEFAULT_ERROR: Readonly<
  Record<'failed' | 'canceled' | 'expired', { code: string; message: string }>
> = {
  failed: { code: 'generation_failed', message: 'The model could not produce an output.' },
  canceled: { code: 'job_canceled', message: 'The job was canceled before it finished.' },
  expired: { code: 'job_expired', message: 'The job was not finished within its time.' },
};

/** Codes and statuses of refusals that no source lists. */
export const REFUSALS = {
  badRequest: { status: 400, code: 'invalid_request' },
  unauthorized: { status: 401, code: 'unauthorized' },
  unknownJob: { status: 404, code: 'job_not_found' },
  wrongMethod: { status: 405, code: 'method_not_allowed' },
  otherBodyForKey: { status: 409, code: 'idempotency_conflict' },
  resultNotReady: { status: 409, code: 'result_not_ready' },
  resultUnavailable: { status: 409, code: 'result_unavailable' },
  bodyTooLarge: { status: 413, code: 'payload_too_large' },
  notJsonType: { status: 415, code: 'unsupported_media_type' },
  serverError: { status: 500, code: 'internal_error' },
  /** Not 404, so that nobody mistakes a mistyped path for a missing job. */
  unknownRoute: { status: 501, code: 'unknown_route' },
} as const;

/** The largest request body, in bytes. */
export const MAX_BODY_BYTES = 1_048_576;

/** The longest `Idempotency-Key`, in UTF-16 units. */
export const MAX_KEY_LENGTH = 255;

/** Page size of a list: without `limit`, and at most. */
export const PAGE_SIZE: Readonly<{ standard: number; most: number }> = { standard: 20, most: 100 };

/** A rate limit counts in fixed windows of this length, from the first request of each. */
export const LIMIT_WINDOW_MS = 60_000;

/** Which bucket a route draws from; null is not limited. The two buckets are known, the split is ours. */
export const BUCKET: Readonly<Record<RouteName, 'read' | 'generation' | null>> = {
  submit: 'generation',
  cancel: 'read',
  list: 'read',
  job: 'read',
  status: 'read',
  result: 'read',
  events: 'read',
  me: 'read',
  health: null,
};

/** Routes that answer without a key. */
export const OPEN_ROUTES: ReadonlySet<RouteName> = new Set(['health']);

/**
 * The `type` of a job: the family of its model, which is the part after the vendor
 * (`sume/avatar-video/v1.0` → `avatar-video`).
 */
export function jobType(model: string): string {
  return model.split('/')[1] ?? model;
}

/**
 * Whether Sume takes an address for webhooks. In production it wants https on a public host; the fake takes
 * any https, and http on loopback, where a receiver under test listens.
 */
export function takesWebhookUrl(address: string): boolean {
  if (!URL.canParse(address)) return false;
  const { protocol, hostname, username, password } = new URL(address);
  if (username !== '' || password !== '') return false;
  if (protocol === 'https:') return true;
  return protocol === 'http:' && isLoopback(hostname);
}

/** Whether a URL's host name means this machine, without asking a resolver. */
export function isLoopback(hostname: string): boolean {
  return (
    hostname === 'localhost' ||
    hostname.endsWith('.localhost') ||
    /^127(\.\d{1,3}){3}$/.test(hostname) ||
    hostname === '[::1]'
  );
}

/** Fields that Sume writes as floating point even when they are whole, so `12` goes out as `12.0`. */
export const FLOAT_FIELDS: ReadonlySet<string> = new Set(['duration_seconds']);

/** The output of a completed job, where its ending gave none. `jobId` goes into the address escaped. */
export function defaultArtifacts(
  jobId: string,
): { type: string; url: string; content_type: string; duration_seconds: number }[] {
  return [
    {
      type: 'video',
      url: `https://cdn.sume.example/artifacts/${encodeURIComponent(jobId)}/output.mp4`,
      content_type: 'video/mp4',
      duration_seconds: 12,
    },
  ];
}
