import { jobIdFault } from './job-id.ts';
import type { TerminalStatus } from './status.ts';

/** The events that Sume pushes. All of them end a job. */
export type TerminalEventName = 'job.completed' | 'job.failed' | 'job.canceled';

/** A webhook that ended a job, verified and read. */
export interface TerminalEvent {
  event: TerminalEventName;
  /** Sume's id of the job, exactly as sent. */
  jobId: string;
  /** What the event says: its name's last word. */
  status: TerminalStatus;
  /** The raw text as signed. What is parked is this, so a drain reads result and error from it again. */
  body: string;
  /** The webhook's `payload`, `{ artifacts: [ … ] }`, of a completed job. */
  result?: unknown;
  /** The webhook's `error`, `{ code, message }`, of a job that did not complete. */
  error?: unknown;
}

/** What a verified body turned out to be. */
export type EventReading =
  | { kind: 'terminal'; event: TerminalEvent }
  /** A name that is not known, a future one say: nothing to act on, nothing to retry. */
  | { kind: 'unknown'; name: string }
  | { kind: 'malformed'; reason: string };

const STATUSES: Readonly<Record<TerminalEventName, TerminalStatus>> = {
  'job.completed': 'completed',
  'job.failed': 'failed',
  'job.canceled': 'canceled',
};

/** The status that an event's name says, or null for a name that is not known. */
export function statusOfEvent(name: string): TerminalStatus | null {
  return Object.hasOwn(STATUSES, name) ? STATUSES[name as TerminalEventName] : null;
}

/**
 * Reads the text of a webhook, `{ event, job_id, payload?, error? }`, after its signature was checked. A body
 * that is not a JSON object, or that names a known event without a usable `job_id`, is malformed: sending it
 * again cannot help. The other fields are Sume's business and are not judged.
 */
export function readEvent(body: string): EventReading {
  let value: unknown;
  try {
    value = JSON.parse(body);
  } catch (error) {
    if (error instanceof SyntaxError) return malformed('the body is not JSON');
    throw error;
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return malformed('the body is not a JSON object');
  }
  const { event: name, job_id: jobId, payload, error } = value as Record<string, unknown>;
  if (typeof name !== 'string') return malformed('"event" is absent or not a string');
  const status = statusOfEvent(name);
  if (status === null) return { kind: 'unknown', name };
  if (typeof jobId !== 'string') return malformed('"job_id" is absent or not a string');
  const fault = jobIdFault(jobId);
  if (fault !== null) return malformed(`"job_id" ${fault}`);
  const event: TerminalEvent = { event: name as TerminalEventName, jobId, status, body };
  if (status === 'completed') {
    if (payload !== undefined && payload !== null) event.result = payload;
  } else if (error !== undefined && error !== null) {
    event.error = error;
  }
  return { kind: 'terminal', event };
}

function malformed(reason: string): EventReading {
  return { kind: 'malformed', reason };
}
