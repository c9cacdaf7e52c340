import type { Clock } from '../../src/clock.ts';
import type {
  Attempt,
  AttemptFailure,
  Delivery,
  DeliveryAttempt,
  DeliveryKind,
} from './delivery.ts';
import type { AttemptFate } from './faults/plan.ts';
import type { Holds } from './holds.ts';
import type { PendingWork } from './pending.ts';
import { readBeginning } from './receiver-answer.ts';
import { createSlots } from './slots.ts';
import type { Tasks } from './tasks.ts';
import type { WebhookEvent } from './webhook-event.ts';

/** How many times Sume tries to bring an event to its receiver. */
export const MAX_ATTEMPTS = 10;

/** From the start of one attempt to the start of the next. */
export const ATTEMPT_SPACING_MS = 30_000;

/** Carries one attempt to its receiver: a `fetch`, or a direct call of a handler. */
export type Send = (request: Request, delivery: DeliveryAttempt) => Promise<Response>;

/** Decides what an attempt meets in the network: asked once for each, before it leaves. */
export type MeetAttempt = (delivery: Delivery, attempt: number) => AttemptFate;

/** How many attempts are on their way at once. The others wait, and are stamped when their turn comes. */
const MAX_UNDERWAY = 200;

/** An order to the courier. */
export interface Dispatch {
  kind: DeliveryKind;
  genuine: boolean;
  jobId: string;
  event: WebhookEvent;
  url: string;
  attempts: number;
  /** Stamps and signs one attempt: gives its headers. */
  seal(): Promise<Record<string, string>>;
  /** Called as an attempt leaves. */
  onSent?(): void;
  /** Called when an attempt has ended. */
  onAttempt?(delivery: Delivery, attempt: Attempt): void;
}

/** Brings events to their receivers, each delivery a task of its own. */
export interface Courier {
  readonly deliveries: readonly Delivery[];
  /** Returns at once; the delivery is kept up to date while it is under way. */
  dispatch(order: Dispatch): Delivery;
  /** Resolves when the next attempt of a delivery has ended, or the delivery itself. */
  attemptEnded(delivery: Delivery): Promise<void>;
  /** Forgets the deliveries, which must have ended. */
  clear(): void;
}

/** A reason of our own: without one, each abort builds a DOMException with its stack, for nobody. */
const DONE = new Error('The attempt is over.');

export function createCourier(options: {
  clock: Clock;
  send: Send;
  tasks: Tasks;
  holds: Holds<Delivery>;
  /** How long a receiver has for its answer. */
  attemptLimitMs: number;
  meet: MeetAttempt;
  /** Told of every attempt that has ended. */
  watch: (delivery: Delivery, attempt: Attempt) => void;
}): Courier {
  const { clock, send, tasks, holds, meet, attemptLimitMs } = options;
  const slots = createSlots(MAX_UNDERWAY);
  const watchers = new Map<Delivery, (() => void)[]>();
  const deliveries: Delivery[] = [];
  const namesTaken = new Map<string, number>();
  let earlierSealed: Promise<unknown> = Promise.resolve();

  const nameFor = (kind: DeliveryKind, jobId: string): string => {
    if (kind === 'event') return `webhook/${jobId}`;
    const stem = `webhook/${jobId}/${kind}`;
    const count = (namesTaken.get(stem) ?? 0) + 1;
    namesTaken.set(stem, count);
    return `${stem}-${count}`;
  };

  const tellWatchers = (delivery: Delivery): void => {
    for (const tell of watchers.get(delivery) ?? []) tell();
    watchers.delete(delivery);
  };

  /** One attempt, from the hold to the receiver's answer. Says whether the receiver took it. */
  const attemptOnce = async (
    order: Dispatch,
    delivery: Delivery,
    number: number,
    work: PendingWork,
    signal: AbortSignal,
  ): Promise<boolean> => {
    const passage = await holds.pass(delivery, delivery.jobId, work, signal);
    const fate = meet(delivery, number);
    if (fate.delayMs > 0) await sleepUntil(clock.now() + fate.delayMs, work, signal);
    await slots.take(signal);
    try {
      const loss = passage === 'lost' ? 'delivery-lost' : fate.loss;
      return await leave(order, delivery, number, loss, work, signal);
    } finally {
      slots.give();
    }
  };

  const sleepUntil = async (
    untilMs: number,
    work: PendingWork,
    signal: AbortSignal,
  ): Promise<void> => {
    work.now({ for: 'clock', untilMs });
    await clock.sleep(Math.max(0, untilMs - clock.now()), signal);
    work.now({ for: 'itself' });
  };

  /** WebCrypto signs in threads that overtake each other: who was stamped first shall leave first. */
  const sealInTurn = (order: Dispatch): Promise<Record<string, string>> => {
    const sealed = Promise.all([order.seal(), earlierSealed]).then(([headers]) => headers);
    // Without a value: a promise of results would hold those of every earlier delivery.
    earlierSealed = Promise.allSettled([earlierSealed, sealed]).then(() => {});
    return sealed;
  };

  /** Stamps, signs and sends. */
  const leave = async (
    order: Dispatch,
    delivery: Delivery,
    number: number,
    loss: AttemptFate['loss'],
    work: PendingWork,
    signal: AbortSignal,
  ): Promise<boolean> => {
    const sentAtMs = clock.now();
    const headers = await sealInTurn(order);
    signal.throwIfAborted();
    const attempt: Attempt = {
      number,
      sentAtMs,
      headers,
      endedAtMs: null,
      answer: null,
      failure: null,
    };
    delivery.attempts.push(attempt);
    order.onSent?.();
    try {
      if (loss === 'delivery-lost') {
        attempt.failure = { reason: loss, message: 'The request was lost before it arrived.' };
      } else {
        await carry(delivery, attempt, work, signal);
        if (loss === 'acknowledgement-lost' && attempt.answer !== null) {
          attempt.answer = null;
          attempt.failure = { reason: loss, message: 'The answer was lost on its way back.' };
        }
      }
    } finally {
      attempt.endedAtMs = clock.now();
      order.onAttempt?.(delivery, attempt);
      tellWatchers(delivery);
      options.watch(delivery, attempt);
    }
    return attempt.answer !== null && attempt.answer.status >= 200 && attempt.answer.status < 300;
  };

  /** Sends one attempt and writes down what came back in time. */
  const carry = async (
    delivery: Delivery,
    attempt: Attempt,
    work: PendingWork,
    signal: AbortSignal,
  ): Promise<void> => {
    const timeLimit = new AbortController();
    const hangUp = new AbortController();
    const onCancel = (): void => {
      timeLimit.abort(signal.reason);
      hangUp.abort(signal.reason);
    };
    signal.addEventListener('abort', onCancel, { once: true });
    const fail = (reason: AttemptFailure['reason'], message: string): void => {
      attempt.failure = { reason, message };
    };
    work.now({ for: 'receiver', url: delivery.url, untilMs: attempt.sentAtMs + attemptLimitMs });
    try {
      const request = new Request(delivery.url, {
        method: 'POST',
        headers: attempt.headers,
        body: delivery.body,
        redirect: 'manual',
        signal: hangUp.signal,
      });
      const answered = send(request, {
        jobId: delivery.jobId,
        event: delivery.event,
        eventId: delivery.eventId,
        attempt: attempt.number,
        kind: delivery.kind,
        genuine: delivery.genuine,
        name: delivery.name,
        timestamp: Number(attempt.headers['x-sume-timestamp']),
      });
      const outOfTime = clock.sleep(attemptLimitMs, timeLimit.signal).then(() => null);
      const response = await Promise.race([answered, outOfTime]);
      if (response === null) {
        fail('no-answer', 'No answer within the time limit.');
      } else if (response.type === 'error') {
        fail('unreachable', 'The connection failed.');
      } else {
        // The status alone decides; a body that never ends must not hold up what comes next.
        attempt.answer = { status: response.status, body: '' };
        attempt.answer.body =
          (await Promise.race([readBeginning(response), outOfTime])) ?? '(the answer never ended)';
      }
    } catch (error) {
      if (signal.aborted) {
        fail('canceled', 'The fake was reset or disposed.');
        throw error;
      }
      // To Sume, whatever a receiver or the way to it throws is an attempt without an answer.
      fail('unreachable', describeError(error));
    } finally {
      signal.removeEventListener('abort', onCancel);
      work.now({ for: 'itself' });
      timeLimit.abort(DONE);
      hangUp.abort(DONE);
    }
  };

  const deliver = async (
    order: Dispatch,
    delivery: Delivery,
    work: PendingWork,
    signal: AbortSignal,
  ): Promise<void> => {
    for (let number = 1; ; number += 1) {
      work.rename(`${delivery.name}, attempt ${number},`);
      if (await attemptOnce(order, delivery, number, work, signal)) {
        delivery.state = 'delivered';
        return;
      }
      if (number >= order.attempts) {
        delivery.state = 'given-up';
        return;
      }
      // Apart from start to start, so that the tenth is always 270 s after the first.
      const startedMs = delivery.attempts.at(-1)?.sentAtMs ?? clock.now();
      const nextMs = startedMs + ATTEMPT_SPACING_MS;
      work.rename(`${delivery.name}, attempt ${number + 1},`);
      await sleepUntil(nextMs, work, signal);
    }
  };

  return {
    deliveries,

    dispatch(order) {
      const delivery: Delivery = {
        name: nameFor(order.kind, order.jobId),
        kind: order.kind,
        genuine: order.genuine,
        jobId: order.jobId,
        event: order.event.event,
        eventId: order.event.eventId,
        url: order.url,
        body: order.event.body,
        state: 'pending',
        attempts: [],
        error: null,
      };
      deliveries.push(delivery);
      tasks.start(
        delivery.name,
        delivery.jobId,
        (work, signal) => deliver(order, delivery, work, signal),
        (end) => {
          tellWatchers(delivery);
          if (end.how === 'canceled') delivery.state = 'canceled';
          if (end.how !== 'broken') return;
          delivery.state = 'given-up';
          delivery.error = end.error;
        },
      );
      return delivery;
    },

    attemptEnded: (delivery) =>
      new Promise((resolve) => {
        if (delivery.state === 'pending') {
          watchers.set(delivery, [...(watchers.get(delivery) ?? []), resolve]);
        } else {
          resolve();
        }
      }),

    clear() {
      deliveries.length = 0;
      namesTaken.clear();
    },
  };
}

function describeError(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? `${error.message}: ${error.cause.message}` : error.message;
}
