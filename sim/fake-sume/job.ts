import type { JsonObject, JsonValue } from './wire-json.ts';

/** Sume's own words for where a job is. */
export type JobStatus = 'queued' | 'processing' | TerminalStatus;

/** The words that end a job. */
export type TerminalStatus = 'completed' | 'failed' | 'canceled' | 'expired';

/** The terminal words that are pushed by webhook; `expired` is only ever found by asking. */
export type PushedStatus = Exclude<TerminalStatus, 'expired'>;

/**
 * How far along each status is. The fake has ranks of its own: sharing them with the code that it checks
 * would hide a mistake in both.
 */
export const RANK: Readonly<Record<JobStatus, 0 | 1 | 2>> = {
  queued: 0,
  processing: 1,
  completed: 2,
  failed: 2,
  canceled: 2,
  expired: 2,
};

/** Whether no later status can follow. */
export function isTerminal(status: JobStatus): status is TerminalStatus {
  return RANK[status] === 2;
}

/** Whether a word is one of Sume's statuses, spelt as Sume spells it. */
export function isJobStatus(word: string): word is JobStatus {
  return Object.hasOwn(RANK, word);
}

/** What went wrong with a job. */
export interface JobError {
  code: string;
  message: string;
}

/** One job as Sume knows it: the ground truth. Times are milliseconds since the Unix epoch. */
export interface Job {
  readonly id: string;
  readonly model: string;
  /** The body of the submit, without `mode` and the webhook address. */
  readonly input: JsonObject;
  readonly mode: string;
  readonly webhookUrl: string | null;
  readonly idempotencyKey: string | null;
  readonly createdAtMs: number;
  status: JobStatus;
  updatedAtMs: number;
  terminalAtMs: number | null;
  /** Outputs; not null exactly for a completed job. */
  artifacts: JsonValue[] | null;
  /** Not null exactly for a job that ended without outputs. */
  error: JobError | null;
  /** Every status it has had, first to last. */
  readonly history: { status: JobStatus; atMs: number }[];
  /** Every status that any answer or any genuine event has named for it. */
  readonly reported: Set<JobStatus>;
  /** What the events route lists, oldest first. */
  readonly log: JobLogEntry[];
}

/** One line of a job's own log. */
export interface JobLogEntry {
  type: string;
  summary: string;
  atMs: number;
  details: JsonObject;
}
