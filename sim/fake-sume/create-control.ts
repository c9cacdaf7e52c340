import type { ArmedAnswers } from './armed-answers.ts';
import type { Control } from './control.ts';
import type { Delivery } from './delivery.ts';
import { matchesDelivery, type DropRules } from './drop-rules.ts';
import { BadControlError } from './errors.ts';
import type { MovableClock } from './fake-clock.ts';
import type { AnswerSubject } from './answer-waits.ts';
import type { Holds } from './holds.ts';
import { isTerminal, type Job, type JobStatus } from './job.ts';
import type { Ending, Ledger } from './ledger.ts';
import type { Mailroom } from './mailroom.ts';
import type { Pending } from './pending.ts';
import { truthOf } from './truth.ts';
import { statusOfEvent } from './webhook-event.ts';
import { takesWebhookUrl } from './assumptions.ts';

/** How far in the past a stale timestamp is, unless it is told otherwise: twice the usual tolerance. */
const STALE_OFFSET_MS = -600_000;

/** Gives a fake's parts the face of a `Control`. */
export function createControl(parts: {
  movable: MovableClock | null;
  ledger: Ledger;
  mailroom: Mailroom;
  pending: Pending;
  armed: ArmedAnswers;
  drops: DropRules;
  deliveryHolds: Holds<Delivery>;
  answerHolds: Holds<AnswerSubject>;
  setSecrets(secrets: readonly string[]): void;
  setCredits(credits: number | null): void;
  /** Moves a job, with all that follows from it. */
  moveJob: (job: Job, status: JobStatus, ending?: Ending) => 'changed' | 'unchanged';
  reset(): Promise<void>;
}): Control {
  const { ledger, mailroom, pending } = parts;

  const move = (jobId: string, status: JobStatus, ending?: Ending): 'changed' | 'unchanged' =>
    parts.moveJob(ledger.get(jobId), status, ending);

  let earlierMove: Promise<void> = Promise.resolve();

  return {
    async create({
      model = 'sume/avatar-video/v1.0',
      input = {},
      webhookUrl,
      idempotencyKey,
    } = {}) {
      if (webhookUrl !== undefined && !takesWebhookUrl(webhookUrl)) {
        throw new BadControlError(
          `${JSON.stringify(webhookUrl)} cannot be sent to: give an https address, or http on loopback.`,
        );
      }
      const submission = {
        model,
        body: webhookUrl === undefined ? input : { ...input, webhook_url: webhookUrl },
        mode: 'async',
        webhookUrl: webhookUrl ?? null,
        idempotencyKey: idempotencyKey ?? null,
      };
      const submitted = ledger.submit(submission, () => {});
      if (submitted.kind === 'other-body') {
        throw new BadControlError(
          `The idempotency key ${JSON.stringify(idempotencyKey)} made ${submitted.job.id} with ` +
            'another input: use another key.',
        );
      }
      return submitted.job.id;
    },

    start: async (jobId) => move(jobId, 'processing'),
    complete: async (jobId, ending) => move(jobId, 'completed', ending),
    fail: async (jobId, ending) => move(jobId, 'failed', ending),
    cancel: async (jobId) => move(jobId, 'canceled'),
    expire: async (jobId) => move(jobId, 'expired'),

    async contradict(jobId, status, ending = {}) {
      const job = ledger.get(jobId);
      if (!isTerminal(job.status) || job.status === status) {
        throw new BadControlError(
          `The job ${JSON.stringify(jobId)} is ${job.status}, which job.${status} does not contradict: ` +
            (isTerminal(job.status) ? 'give another status.' : 'end it first.'),
        );
      }
      return mailroom.contradict(job, status, ending);
    },

    async announce(jobId, event, payload = {}) {
      if (statusOfEvent(event) !== null) {
        throw new BadControlError(
          `${event} is a documented event: use complete(), fail(), cancel() or contradict().`,
        );
      }
      return mailroom.announce(ledger.get(jobId), event, { payload });
    },

    async deliver(jobId, { event, times = 1, ...to } = {}) {
      if (!Number.isInteger(times) || times < 1) {
        throw new BadControlError(`times is ${times}: give a whole number above 0.`);
      }
      const job = ledger.get(jobId);
      return Array.from({ length: times }, () => mailroom.repeat(job, event, to));
    },

    forge: async (jobId, event, to = {}) => mailroom.forge(jobId, event, to),
    tamper: async (jobId, { event, ...to } = {}) => mailroom.tamper(jobId, event, to),
    stale: async (jobId, { event, offsetMs = STALE_OFFSET_MS, ...to } = {}) =>
      mailroom.stale(jobId, event, offsetMs, to),

    async replay(delivery, number) {
      const attempt =
        number === undefined
          ? delivery.attempts.at(-1)
          : delivery.attempts.find((one) => one.number === number);
      if (attempt === undefined) {
        throw new BadControlError(
          `${delivery.name} has no attempt ${number ?? ''} to replay: it has ${delivery.attempts.length}.`,
        );
      }
      return mailroom.replay(delivery, attempt);
    },

    holdDeliveries: (filter = {}) =>
      parts.deliveryHolds.place((delivery) => matchesDelivery(filter, delivery)),

    async dropDeliveries({ times = 1, what = 'request', ...filter } = {}) {
      parts.drops.add(filter, times, what);
    },

    async nextAnswer(route, answer, options = {}) {
      parts.armed.arm(route, answer, options);
    },

    holdAnswers: (route, { jobId } = {}) =>
      parts.answerHolds.place(
        (subject) => subject.route === route && (jobId === undefined || subject.jobId === jobId),
      ),

    async rotateSecrets(secrets) {
      parts.setSecrets(secrets);
    },

    async setCredits(credits) {
      parts.setCredits(credits);
    },

    async advance(ms) {
      const { movable } = parts;
      if (movable === null) {
        throw new BadControlError(
          'This fake Sume was given a clock that cannot be moved: leave out the option clock, or give ' +
            'it createFakeClock(), to move time by hand.',
        );
      }
      if (!Number.isFinite(ms) || ms < 0) {
        throw new BadControlError(`The clock cannot be moved by ${ms} ms: give 0 or more.`);
      }
      // One after the other: each has to see what the one before it set going.
      const moved = earlierMove.then(() => advanceClock(movable, pending, ms));
      earlierMove = moved.catch(() => {
        // Whoever asked for that move has been told.
      });
      await moved;
    },

    settle: ({ jobId } = {}) => pending.settled(jobId),

    pending: () => pending.describe(),

    truth: () =>
      new Map(ledger.all().map((job) => [job.id, truthOf(job, mailroom.issued(job.id))])),

    reset: () => parts.reset(),
  };
}

/** Goes from due time to due time, and lets at each whatever is due happen. */
async function advanceClock(clock: MovableClock, pending: Pending, ms: number): Promise<void> {
  const targetMs = clock.now() + ms;
  for (;;) {
    await pending.quiet();
    const dueMs = clock.nextDueMs();
    if (dueMs === null || dueMs > targetMs) break;
    // A clock that also runs by itself may be past it by now.
    clock.moveTo(Math.max(dueMs, clock.now()));
  }
  clock.moveTo(Math.max(targetMs, clock.now()));
}
