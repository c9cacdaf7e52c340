import { InputError } from './errors.ts';
import { statusOfEvent, type TerminalEvent } from './event.ts';
import { assertJobId } from './job-id.ts';
import { isJobStatus, isTerminal, type JobStatus } from './status.ts';

/** Throws an `InputError` unless the value can stand in the correlation column and mean something there. */
export function assertCorrelationId(value: string): void {
  if (typeof value === 'string' && value !== '' && !value.includes('\0')) return;
  throw new InputError(
    `The correlation id ${JSON.stringify(value)} cannot be stored. Pass a text that is not empty and holds no NUL, ` +
      'or leave it out.',
  );
}

/** Throws an `InputError` unless the event is one that `readEvent` could have made. */
export function assertEvent(event: TerminalEvent): void {
  assertJobId(event.jobId);
  const status = statusOfEvent(event.event);
  if (status === null || status !== event.status) {
    throw new InputError(
      `The event ${JSON.stringify(event.event)} cannot end a job as ${JSON.stringify(event.status)}. ` +
        'Pass what readEvent returned; an event with a name that is not known is answered 204 and not passed on.',
    );
  }
  if (typeof event.body !== 'string') {
    throw new InputError('The event has no body. Pass the raw text as it was signed.');
  }
}

/** Throws an `InputError` unless the status is one of Sume's, and what comes with it belongs to it. */
export function assertSeen(status: JobStatus, seen: { result?: unknown; error?: unknown }): void {
  if (!isJobStatus(status)) {
    throw new InputError(
      `${JSON.stringify(status)} is not a status of Sume's. Read words with readStatusWord, and write nothing ` +
        'for a word that it does not know.',
    );
  }
  if (!isTerminal(status) && ((seen.result ?? null) !== null || (seen.error ?? null) !== null)) {
    throw new InputError(
      `A job that is ${status} has no result or error. Fetch the result once it is terminal or result_ready.`,
    );
  }
}
