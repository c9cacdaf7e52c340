import type { Clock } from '../../src/clock.ts';
import { DEFAULT_ERROR, defaultArtifacts } from './assumptions.ts';
import { BadOptionError, UnknownJobError } from './errors.ts';
import {
  isTerminal,
  RANK,
  type Job,
  type JobError,
  type JobStatus,
  type TerminalStatus,
} from './job.ts';
import { stableHash } from './stable-hash.ts';
import { canonicalJson, type JsonObject, type JsonValue } from './wire-json.ts';

/** A submit, as the wire or a control call gives it. */
export interface Submission {
  model: string;
  /** The whole body: the model's input, `mode` and the webhook address. */
  body: JsonObject;
  mode: string;
  webhookUrl: string | null;
  idempotencyKey: string | null;
}

/** What a submit came to. */
export type Submitted =
  { kind: 'created'; job: Job } | { kind: 'known'; job: Job } | { kind: 'other-body'; job: Job };

/** How a job ends: outputs for a completed one, else an error; both have a default. */
export interface Ending {
  artifacts?: JsonValue[];
  error?: JobError;
}

/** Every job that this Sume has, and the rules by which they move: the ground truth. */
export interface Ledger {
  /** @param admit called for a new job before it is made; may throw, and then there is none. */
  submit(submission: Submission, admit: () => void): Submitted;
  find(jobId: string): Job | undefined;
  /** Throws `UnknownJobError`. */
  get(jobId: string): Job;
  /** In the order of their creation. */
  all(): readonly Job[];
  /** Moves a job forward; a status that would not raise its rank changes nothing. */
  move(job: Job, status: JobStatus, ending?: Ending): 'changed' | 'unchanged';
  log(job: Job, type: string, summary: string, details?: JsonObject): void;
  clear(): void;
}

/**
 * @param jobId names the job of an idempotency key. Without a key the id follows from the seed, the body and
 * how often that body was seen: never from the order in which different requests arrive.
 */
export function createLedger(options: {
  clock: Clock;
  seed: number;
  jobId?: ((idempotencyKey: string) => string) | undefined;
}): Ledger {
  const { clock, seed } = options;
  const nameJob =
    options.jobId ?? ((key: string): string => `job_${stableHash('key', String(seed), key)}`);
  const jobs = new Map<string, Job>();
  const byKey = new Map<string, { job: Job; fingerprint: string }>();
  const timesSeen = new Map<string, number>();

  const newId = (submission: Submission, fingerprint: string): string => {
    if (submission.idempotencyKey !== null) return nameJob(submission.idempotencyKey);
    const times = (timesSeen.get(fingerprint) ?? 0) + 1;
    timesSeen.set(fingerprint, times);
    return `job_${stableHash('body', String(seed), fingerprint, String(times))}`;
  };

  const ledger: Ledger = {
    submit(submission, admit) {
      const fingerprint = canonicalJson([submission.model, submission.body]);
      const known =
        submission.idempotencyKey === null ? undefined : byKey.get(submission.idempotencyKey);
      if (known !== undefined) {
        return { kind: known.fingerprint === fingerprint ? 'known' : 'other-body', job: known.job };
      }
      admit();
      const id = newId(submission, fingerprint);
      if (id === '' || jobs.has(id)) {
        throw new BadOptionError(
          `The new job of the key ${JSON.stringify(submission.idempotencyKey)} got the id ` +
            `${JSON.stringify(id)}, which is ${id === '' ? 'empty' : 'taken'}: let the option jobId ` +
            'give each key a name of its own.',
        );
      }
      const { mode: _mode, webhook_url: _url, callback_url: _callback, ...input } = submission.body;
      const nowMs = clock.now();
      const job: Job = {
        id,
        model: submission.model,
        input,
        mode: submission.mode,
        webhookUrl: submission.webhookUrl,
        idempotencyKey: submission.idempotencyKey,
        createdAtMs: nowMs,
        status: 'queued',
        updatedAtMs: nowMs,
        terminalAtMs: null,
        artifacts: null,
        error: null,
        history: [{ status: 'queued', atMs: nowMs }],
        reported: new Set(),
        log: [],
      };
      jobs.set(id, job);
      if (submission.idempotencyKey !== null) {
        byKey.set(submission.idempotencyKey, { job, fingerprint });
      }
      ledger.log(job, 'job.queued', 'The job was accepted.');
      return { kind: 'created', job };
    },

    find: (jobId) => jobs.get(jobId),

    get(jobId) {
      const job = jobs.get(jobId);
      if (job === undefined) throw new UnknownJobError(jobId);
      return job;
    },

    all: () => [...jobs.values()],

    move(job, status, ending = {}) {
      if (RANK[status] <= RANK[job.status]) return 'unchanged';
      const nowMs = clock.now();
      job.status = status;
      job.updatedAtMs = nowMs;
      job.history.push({ status, atMs: nowMs });
      if (isTerminal(status)) finish(job, status, ending, nowMs);
      ledger.log(job, `job.${status}`, `The job is ${status}.`);
      return 'changed';
    },

    log(job, type, summary, details = {}) {
      job.log.push({ type, summary, atMs: clock.now(), details });
    },

    clear() {
      jobs.clear();
      byKey.clear();
      timesSeen.clear();
    },
  };
  return ledger;
}

function finish(job: Job, status: TerminalStatus, ending: Ending, nowMs: number): void {
  job.terminalAtMs = nowMs;
  if (status === 'completed') job.artifacts = ending.artifacts ?? defaultArtifacts(job.id);
  else job.error = ending.error ?? DEFAULT_ERROR[status];
}
