import { http } from 'msw';
import { systemClock, type Clock } from '../../src/clock.ts';
import { createRandom } from '../engine/random.ts';
import { createAdmission, type Purse } from './admission.ts';
import { createAnswerWaits, type AnswerSubject } from './answer-waits.ts';
import { toResponse, type Answer } from './answer.ts';
import { createArmedAnswers } from './armed-answers.ts';
import { arrivalOf, type Arrival } from './arrival.ts';
import { ATTEMPT_LIMIT_MS } from './assumptions.ts';
import { createAutopilot, type Autopilot } from './autopilot.ts';
import { createControl } from './create-control.ts';
import { createCourier } from './courier.ts';
import type { Attempt, Delivery } from './delivery.ts';
import { createDropRules } from './drop-rules.ts';
import { BadOptionError } from './errors.ts';
import { createFakeClock, type MovableClock } from './fake-clock.ts';
import { createFaultPlan, type AttemptFate, type FaultPlan } from './faults/plan.ts';
import { faultPreset } from './faults/presets.ts';
import { parseFaultProfile } from './faults/profile.ts';
import type { FakeSume, FakeSumeOptions } from './fake-sume.ts';
import { createFrontDesk } from './front-desk.ts';
import { createHolds } from './holds.ts';
import { isTerminal, type Job, type JobStatus } from './job.ts';
import { createLedger, type Ending } from './ledger.ts';
import { createLimitCounter } from './limits.ts';
import { createMailroom } from './mailroom.ts';
import { createPending } from './pending.ts';
import { createRequestLog, type RequestRecord } from './request-log.ts';
import { createSigner } from './signing.ts';
import { createTasks } from './tasks.ts';

/** For how long a request that gets no answer keeps its connection. */
const NO_ANSWER_MS = 120_000;

const NO_FATE: AttemptFate = { delayMs: 0, loss: null };

/** Nobody has agreed on it with Sume, so whatever it signs is forged. */
const FORGERS_SECRET = 'not-a-secret-of-sume';

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
  const waits = createAnswerWaits({ clock, pending, holds: answerHolds });
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
    admission: createAdmission({ apiKeys: options.apiKeys, limits, purse }),
    purse,
    ledger,
    log,
    armed,
    waits,
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
    waits.cancelAll();
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
