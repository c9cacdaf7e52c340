import type { RequestHandler } from 'msw';
import type { Clock } from '../../src/clock.ts';
import type { Control } from './control.ts';
import type { Send } from './courier.ts';
import type { Delivery } from './delivery.ts';
import type { MovableClock } from './fake-clock.ts';
import type { PresetName } from './faults/presets.ts';
import type { FaultProfile } from './faults/profile.ts';
import type { Limits } from './limits.ts';
import type { RequestRecord } from './request-log.ts';
import type { Spawn } from './tasks.ts';

/** Everything about a fake Sume that can be chosen. */
export interface FakeSumeOptions {
  /** Secrets that sign webhooks, newest first; during a rotation all of them sign. At least one. */
  secrets: readonly string[];
  /**
   * Everything about time goes through it. Default: a clock of the fake's own, which starts at the machine's
   * time and stands still until `control.advance()`, so that no retry waits for half a minute and no faked
   * timer matters. `systemClock` makes it run in real time.
   */
  clock?: Clock | MovableClock;
  /**
   * What the timestamps of webhooks are read from. A receiver compares them with its own clock. Default: the
   * clock that was given; where the fake keeps its own, the machine's, however far that one was moved.
   */
  stampClock?: Clock;
  /** Default: `https://api.sume.com/v1`. */
  baseUrl?: string;
  /** Keys that are let in. Default: any. */
  apiKeys?: readonly string[];
  /** Decides the ids of jobs without an idempotency key, and of all without `jobId`. Default: 0. */
  seed?: number;
  /**
   * The job id for an idempotency key; has to differ from key to key, and to follow from the key alone.
   * Default: a hash of it.
   */
  jobId?: (idempotencyKey: string) => string;
  /**
   * How a webhook attempt leaves: a `fetch`, or a direct call of a handler. What it throws is, to Sume, a
   * connection that failed. Default: the `fetch` that is global when the attempt leaves.
   */
  send?: Send;
  /**
   * Starts a delivery as a task. Default: runs it at once; what breaks in it is kept in the delivery's
   * `error`. A simulator passes its own, so that each delivery is a task of its scheduler.
   */
  spawn?: Spawn;
  /** Default: none. `PUBLISHED_LIMITS` are those of Sume's docs. */
  limits?: Limits;
  /** How many jobs can be submitted before 402. Default: no end of them. */
  credits?: number;
  /** Misbehaves by itself, as `seed` decides: a profile, or the name of one. Default: never. */
  faults?: FaultProfile | PresetName;
  /**
   * Whether submitted jobs start and end by themselves, in times that the fault profile may set. Default: they
   * wait for `control`.
   */
  autopilot?: boolean;
}

/** A fake Sume: its wire as MSW handlers, its truth, and ways to make it misbehave. */
export interface FakeSume {
  readonly baseUrl: string;
  /** For `setupServer(...handlers)`, `setupWorker(...handlers)` or `getResponse(handlers, request)`. */
  readonly handlers: RequestHandler[];
  readonly control: Control;
  /** The newest requests that arrived, oldest first. */
  readonly requests: readonly RequestRecord[];
  /** Everything that was sent to receivers, oldest first. */
  readonly deliveries: readonly Delivery[];
  /** Cancels everything pending and answers nothing any more: clients see a network error. */
  dispose(): Promise<void>;
}
