import type { ArmedAnswer, ArmedFor } from './armed-answers.ts';
import type { Delivery } from './delivery.ts';
import type { Hold } from './holds.ts';
import type { JobError, PushedStatus } from './job.ts';
import type { Ending } from './ledger.ts';
import type { SendTo } from './mailroom.ts';
import type { RouteName } from './route-table.ts';
import type { JobTruth } from './truth.ts';
import type { JsonObject, JsonValue } from './wire-json.ts';

/** A job made without a request. */
export interface NewJob {
  /** Default: `sume/avatar-video/v1.0`. */
  model?: string;
  input?: JsonObject;
  webhookUrl?: string;
  idempotencyKey?: string;
}

/** Which deliveries are meant. Without any field: all. */
export interface DeliveryFilter {
  jobId?: string;
  event?: string;
  kind?: Delivery['kind'];
}

/**
 * Everything a test can do to a fake Sume behind its clients' back.
 *
 * No verb waits for a receiver: what was started is under way when the verb returns, and `settle()` waits
 * for its end. A verb about a job throws `UnknownJobError` for an id that this fake never issued, and
 * `BadControlError` for what makes no sense as things stand.
 */
export interface Control {
  /** Makes a job as a submit would, and gives its id. The same idempotency key gives the same job. */
  create(job?: NewJob): Promise<string>;

  /** queued → processing. */
  start(jobId: string): Promise<'changed' | 'unchanged'>;
  /**
   * Ends the job, and pushes `job.completed` if it has a webhook address. A job that has ended stays as it
   * is and nothing is pushed: `unchanged`. So a completion can race a cancel.
   */
  complete(jobId: string, ending?: { artifacts?: JsonValue[] }): Promise<'changed' | 'unchanged'>;
  /** As `complete`, with `job.failed`. */
  fail(jobId: string, ending?: { error?: JobError }): Promise<'changed' | 'unchanged'>;
  /** As `complete`, with `job.canceled`: the same as the cancel route. */
  cancel(jobId: string): Promise<'changed' | 'unchanged'>;
  /** Ends the job as `expired`, which is never pushed: only a poll finds it. */
  expire(jobId: string): Promise<'changed' | 'unchanged'>;

  /**
   * Pushes a second, different end of a job that has ended, genuinely signed and with ten attempts. The
   * event is what misbehaves: every read, and `truth()`, keep the first end.
   */
  contradict(jobId: string, status: PushedStatus, ending?: Ending): Promise<Delivery>;
  /** Pushes an event of a type that Sume does not document, genuinely signed and with ten attempts. */
  announce(jobId: string, event: string, payload?: JsonObject): Promise<Delivery>;
  /**
   * Delivers the latest event of a job (or the named one) again now, `times` over and at once, whatever its
   * own delivery is doing: one attempt each, the same event id, freshly signed.
   */
  deliver(
    jobId: string,
    options?: SendTo & { event?: string; times?: number },
  ): Promise<readonly Delivery[]>;

  /** Sends an event signed with a secret that is not Sume's. The job may be one that was never issued. */
  forge(jobId: string, event: string, to?: SendTo): Promise<Delivery>;
  /** Sends a body that says something else than what was signed. */
  tamper(jobId: string, options?: SendTo & { event?: string }): Promise<Delivery>;
  /**
   * Sends an event with a timestamp out of tolerance, properly signed.
   *
   * @param options `offsetMs`: how far the timestamp is from now. Default: 600,000 ms in the past.
   */
  stale(jobId: string, options?: SendTo & { event?: string; offsetMs?: number }): Promise<Delivery>;
  /**
   * Sends the bytes and the headers of an attempt once more, timestamp and signature included: within the
   * receiver's tolerance it is as genuine as it was.
   *
   * @param attempt its number. Default: the last one.
   */
  replay(delivery: Delivery, attempt?: number): Promise<Delivery>;

  /** Keeps back every matching delivery attempt before it leaves, until it is released or dropped. */
  holdDeliveries(filter?: DeliveryFilter): Hold;
  /**
   * Loses the next attempts in the network: the request before it arrives, or the receiver's answer.
   * Default: one request. Sume counts each as failed, and tries again 30 s after it.
   */
  dropDeliveries(
    options?: DeliveryFilter & { times?: number; what?: 'request' | 'acknowledgement' },
  ): Promise<void>;

  /** Sets what the next request of a route gets instead of its answer. Several wait in line. */
  nextAnswer(route: RouteName, answer: ArmedAnswer, options?: ArmedFor): Promise<void>;
  /**
   * Keeps back every answer of a route, after Sume did what it was asked: the way to let a webhook arrive
   * before the 202.
   */
  holdAnswers(route: RouteName, filter?: { jobId?: string }): Hold;

  /** From now on signs with these, newest first. */
  rotateSecrets(secrets: readonly string[]): Promise<void>;
  /** How many jobs can still be submitted; after that 402. Null: no end of them. */
  setCredits(credits: number | null): Promise<void>;

  /**
   * Moves the fake's own clock, from due time to due time, and lets at each whatever is due happen. A
   * receiver that has not answered is given real time for it before its time limit strikes. Throws
   * `BadControlError` when the fake was given a clock that cannot be moved.
   */
  advance(ms: number): Promise<void>;
  /**
   * Resolves when nothing is pending: no delivery under way or to be retried, no answer held. Rejects with
   * `StillWaitingError`, which says what is still waited for, when that cannot happen by itself.
   *
   * @param scope only what is pending for this job.
   */
  settle(scope?: { jobId?: string }): Promise<void>;
  /** What is pending now: one sentence for each thing. */
  pending(): readonly string[];
  /** What is so about every job, in the order of creation. */
  truth(): ReadonlyMap<string, JobTruth>;
  /**
   * Cancels everything pending and makes the fake as it was at first: no jobs, logs, holds or armed answers,
   * the secrets and credits that it was made with. Only the clock stays where it is. Nothing from before
   * arrives afterwards.
   */
  reset(): Promise<void>;
}
