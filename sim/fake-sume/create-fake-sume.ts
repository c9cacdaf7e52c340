import { http, type RequestHandler } from 'msw';
import { systemClock, type Clock } from '../../src/clock.ts';
import { createRandom } from '../engine/random.ts';
import { toResponse, type Answer } from './answer.ts';
import { createArmedAnswers } from './armed-answers.ts';
import { arrivalOf, type Arrival } from './arrival.ts';
import { ATTEMPT_LIMIT_MS } from './assumptions.ts';
import { createAutopilot, type Autopilot } from './autopilot.ts';
import type { Control } from './control.ts';
import { createControl } from './create-control.ts';
import { createCourier, type Send } from './courier.ts';
import type { Attempt, Delivery } from './delivery.ts';
import { createDropRules } from './drop-rules.ts';
import { BadOptionError } from './errors.ts';
import { createFakeClock, type MovableClock } from './fake-clock.ts';
import { createFaultPlan, type AttemptFate, type FaultPlan } from './faults/plan.ts';
import { faultPreset, type PresetName } from './faults/presets.ts';
import { parseFaultProfile, type FaultProfile } from './faults/profile.ts';
import { createFrontDesk, type AnswerSubject, type Purse } from './front-desk.ts';
import { createHolds } from './holds.ts';
import { isTerminal, type Job, type JobStatus } from './job.ts';
import { createLedger, type Ending } from './ledger.ts';
import { createLimitCounter, type Limits } from './limits.ts';
import { createMailroom } from './mailroom.ts';
import { createPending } from './pending.ts';
import { createRequestLog, type RequestRecord } from './request-log.ts';
import { createSigner } from './signing.ts';
import { createTasks, type Spawn } from './tasks.ts';

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

/** For how long a request that gets no answer keeps its connection. */
const NO_ANSWER_MS = 120_000;

const NO_FATE: AttemptFate = { delayMs: 0, loss: null };

/** Nobody has agreed on it with Sume, so whatever it signs is forged. */
const FORGERS_SECRET = 'not-a-secret-of-sume';

/**
 * Makes a fake Sume. It shares nothing with any other: two in one process never meet, unless both get the
 * same base URL in the same MSW server, where the first one answers.
 *
 * A request takes effect in plain promise turns, without timers. Throws `BadOptionError` for options that
 * cannot work.
 */
export function createFakeSume(options: FakeSumeOptions): FakeSume {
  return assembleFakeSume(options).fake;
}

/** A fake with the way past MSW that a port takes: the answer to a request, or null where none arrives. */
export interface AssembledFakeSume {
  readonly fake: FakeSume;
  answer(arrival: Arrival): Promise<Answer | null>;
}

/** What a port needs to be able to say. */
export interface Extras {
  /** Told as things happen, for a log that somebody reads. */
  watcher: Watcher;
  /**
   * How many seconds of the fake's clock pass in one of those that receivers and clients live in. Their
   * patience is counted in their own: a receiver is no faster because the fake's time is.
   */
  timeScale: number;
}

/** Told as things happen. */
export interface Watcher {
  answered(record: RequestRecord): void;
  attempted(delivery: Delivery, attempt: Attempt): void;
}

/** As `createFakeSume`. */
export function assembleFakeSume(options: FakeSumeOptions, extras?: Extras): AssembledFakeSume {
  const clock = options.clock ?? createFakeClock(systemClock.now());
  const stampClock = options.stampClock ?? options.clock ?? systemClock;
  const timeScale = extras?.timeScale ?? 1;
  const movable = isMovable(clock) ? clock : null;
  const baseUrl = checkBaseUrl(options.baseUrl ?? 'https://api.sume.com/v1');
  const purse: Purse = { credits: checkCredits(options.credits ?? null) };
  if (options.secrets.includes(FORGERS_SECRET)) {
    throw new BadOptionError(`The secret ${FORGERS_SECRET} is the forger's: choose another.`);
  }
  let signer = createSigner(options.secrets);

  const plan = choosePlan(options);
  const pending = createPending(clock, movable?.standsStill ?? false);
  const tasks = createTasks(options.spawn, pending);
  const ledger = createLedger({ clock, seed: options.seed ?? 0, jobId: options.jobId });
  const limits = options.limits === undefined ? null : createLimitCounter(options.limits, clock);
  const log = createRequestLog();
  const armed = createArmedAnswers();
  const drops = createDropRules();
  const deliveryHolds = createHolds<Delivery>();
  const answerHolds = createHolds<AnswerSubject>();
  const courier = createCourier({
    attemptLimitMs: ATTEMPT_LIMIT_MS * timeScale,
    watch: (delivery, attempt) => extras?.watcher.attempted(delivery, attempt),
    clock,
    // Looked up when an attempt leaves, because MSW and test runners replace it.
    send: options.send ?? ((request) => fetch(request)),
    tasks,
    holds: deliveryHolds,
    meet(delivery, number) {
      const fate =
        plan === null || delivery.kind !== 'event' ? NO_FATE : plan.attempt(delivery, number);
      return { ...fate, loss: drops.lose(delivery) ?? fate.loss };
    },
  });
  const mailroom = createMailroom({
    clock,
    stampClock,
    ledger,
    courier,
    signers: { sume: () => signer, forger: createSigner([FORGERS_SECRET]) },
  });
  const desk = createFrontDesk({
    noAnswerMs: NO_ANSWER_MS * timeScale,
    watch: (record) => extras?.watcher.answered(record),
    clock,
    baseUrl,
    apiKeys: options.apiKeys,
    purse,
    limits,
    ledger,
    log,
    armed,
    holds: answerHolds,
    pending,
    plan,
    onSubmitted: async (job) => {
      if (options.autopilot === true) await autopilot?.onSubmitted(job);
    },
    end: (job) => moveJob(job, 'canceled'),
  });

  let autopilot: Autopilot | null = null;
  const moveJob = (job: Job, status: JobStatus, ending?: Ending): 'changed' | 'unchanged' => {
    const outcome = ledger.move(job, status, ending);
    if (outcome === 'unchanged' || !isTerminal(status)) return outcome;
    const delivery = mailroom.pushEnd(job);
    if (delivery !== null) autopilot?.onPushed(job, delivery);
    return outcome;
  };

  const cancelEverything = async (): Promise<void> => {
    desk.cancelAll();
    await tasks.cancelAll();
    for (const part of [answerHolds, deliveryHolds, armed, drops]) part.clear();
  };

  const control = createControl({
    movable,
    ledger,
    mailroom,
    pending,
    armed,
    drops,
    deliveryHolds,
    answerHolds,
    setSecrets: (secrets) => {
      signer = createSigner(secrets);
    },
    setCredits: (credits) => {
      purse.credits = checkCredits(credits);
    },
    moveJob,
    async reset() {
      await cancelEverything();
      for (const part of [ledger, mailroom, courier, log, desk]) part.clear();
      plan?.clear();
      limits?.clear();
      purse.credits = options.credits ?? null;
      signer = createSigner(options.secrets);
    },
  });
  if (plan !== null) {
    autopilot = createAutopilot({ clock, tasks, plan, control, courier });
  }

  const fake: FakeSume = {
    baseUrl,
    handlers: [
      http.all(everythingOnTheHostOf(baseUrl), async ({ request }) => {
        const answer = await desk.answer(arrivalOf(request));
        return answer === null ? Response.error() : toResponse(answer);
      }),
    ],
    control,
    requests: log.records,
    deliveries: courier.deliveries,
    async dispose() {
      desk.close();
      await cancelEverything();
    },
  };
  return { fake, answer: (arrival) => desk.answer(arrival) };
}

/** Null for a fake that does nothing by itself. */
function choosePlan(options: FakeSumeOptions): FaultPlan | null {
  const { faults, autopilot = false, seed = 0 } = options;
  if (faults === undefined && !autopilot) return null;
  const profile =
    typeof faults === 'string' ? faultPreset(faults) : parseFaultProfile(faults ?? {});
  return createFaultPlan(profile, createRandom(seed));
}

function isMovable(clock: Clock | MovableClock): clock is MovableClock {
  return 'moveTo' in clock;
}

function checkBaseUrl(given: string): string {
  const trimmed = given.replace(/\/+$/, '');
  const url = URL.canParse(trimmed) ? new URL(trimmed) : null;
  if (url === null || !/^https?:$/.test(url.protocol) || url.search !== '' || url.hash !== '') {
    throw new BadOptionError(
      `baseUrl is ${JSON.stringify(given)}: give an http or https address without a query.`,
    );
  }
  return url.origin + url.pathname.replace(/\/$/, '');
}

function checkCredits(credits: number | null): number | null {
  if (credits === null || (Number.isInteger(credits) && credits >= 0)) return credits;
  throw new BadOptionError(`credits is ${credits}: give a whole number from 0, or null.`);
}

/** Also what is not below the base path, so that a mistyped path fails here and not in the network. */
function everythingOnTheHostOf(baseUrl: string): RegExp {
  const origin = new URL(baseUrl).origin.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);
  return new RegExp(`^${origin}(?:/|$)`);
}
