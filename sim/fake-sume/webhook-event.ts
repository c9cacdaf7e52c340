import { DEFAULT_ERROR, defaultArtifacts } from './assumptions.ts';
import type { JobError, PushedStatus } from './job.ts';
import { stableHash } from './stable-hash.ts';
import { irregularJson, type JsonObject, type JsonValue } from './wire-json.ts';

/** One event as it goes out: the same bytes and the same id in every attempt. */
export interface WebhookEvent {
  readonly event: string;
  readonly eventId: string;
  readonly body: string;
  /** The status that it reports, if it is of a documented type. */
  readonly status: PushedStatus | null;
}

const STATUS_OF_EVENT: ReadonlyMap<string, PushedStatus> = new Map([
  ['job.completed', 'completed'],
  ['job.failed', 'failed'],
  ['job.canceled', 'canceled'],
]);

/** The status that an event name reports; null for a name that Sume does not document. */
export function statusOfEvent(event: string): PushedStatus | null {
  return STATUS_OF_EVENT.get(event) ?? null;
}

/** What an event carries: outputs or an error, or for an unknown type whatever it is given. */
export interface EventContent {
  artifacts?: JsonValue[];
  error?: JobError;
  payload?: JsonObject;
}

/**
 * Writes an event.
 *
 * @param occurrence how many events of this name the job had before; it makes the event id.
 */
export function writeEvent(
  jobId: string,
  event: string,
  content: EventContent,
  occurrence: number,
): WebhookEvent {
  const status = statusOfEvent(event);
  return {
    event,
    eventId: `evt_${stableHash('event', jobId, event, String(occurrence))}`,
    body: irregularJson({
      event,
      request_id: jobId,
      job_id: jobId,
      ...rest(jobId, status, content),
    }),
    status,
  };
}

function rest(jobId: string, status: PushedStatus | null, content: EventContent): JsonObject {
  if (status === null) return { status: 'OK', payload: content.payload ?? {} };
  if (status === 'completed') {
    const artifacts: JsonValue[] =
      content.artifacts ?? defaultArtifacts(jobId).map((one) => ({ ...one }));
    return { status: 'OK', payload: { artifacts } };
  }
  return { status: 'ERROR', payload: {}, error: { ...(content.error ?? DEFAULT_ERROR[status]) } };
}
