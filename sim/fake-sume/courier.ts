import type { Clock } from '../../src/clock.ts';
import { ATTEMPT_LIMIT_MS } from './assumptions.ts';
import type {
  Attempt,
  AttemptFailure,
  Delivery,
  DeliveryAttempt,
  DeliveryKind,
} from './delivery.ts';
import type { Holds } from './holds.ts';
import type { Pending, PendingWork } from './pending.ts';
import { readBeginning } from './receiver-answer.ts';
import type { WebhookEvent } from './webhook-event.ts';

/** How many times Sume tries to bring an event to its receiver. */
export const MAX_ATTEMPTS = 10;

/** From the start of one attempt to the start of the next. */
export const ATTEMPT_SPACING_MS = 30_000;

/** Carries one attempt to its receiver: a `fetch`, or a direct call of a handler. */
export type Send = (request: Request, delivery: DeliveryAttempt) => Promise<Response>;

/** Starts a delivery as a task of its own. */
export type Spawn = (name: string, task: () => Promise<void>) => void;

/** Decides whether a request or an answer of an attempt is lost in the network. */
export type LoseAttempt = (
  delivery: Delivery,
  attempt: number,
) => 'delivery-lost' | 'acknowledgement-lost' | null;

/** An order to the courier. */
export interface Dispatch {
  kind: DeliveryKind;
  genuine: boolean;
  jobId: string;
  event: WebhookEvent;
  url: string;
  attempts: number;
  /** Stamps and signs one attempt: gives its headers. */
  seal(timeMs: number): Promise<Record<string, string>>;
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
  /** Ends every delivery under way and waits until none runs. */
  cancelAll(): Promise<void>;
  /** Forgets the deliveries, which must have ended. */
  clear(): void;
}

interface Underway {
  cancel: AbortController;
  /** Undefined until the task was started by `spawn`. */
  running: Promise<void> | undefined;
  /** Ends the bookkeeping of a delivery whose task was never started. */
  abandon(): void;
}

/** A reason of our own: without one, each abort builds a DOMException with its stack, for nobody. */
const DONE = new Error('The attempt is over.');

export function createCourier(options: {
  clock: Clock;
  send: Send;
  spawn: Spawn;
  pending: Pending;
  holds: Holds<Delivery>;
  lose: LoseAttempt;
}): Courier {
  const { clock, send, spawn, pending, holds, lose } = options;
  const deliveries: Delivery[] = [];
  const underway = new Set<Underway>();
  const namesTaken = new Map<string, number>();

  const nameFor = (kind: DeliveryKind, jobId: string): string => {
    if (kind === 'event') return `webhook/${jobId}`;
    const stem = `webhook/${jobId}/${kind}`;
    const count = (namesTaken.get(stem) ?? 0) + 1;
    namesTaken.set(stem, count);
    return `${stem}-${count}`;
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
    const sentAtMs = clock.now();
    const headers = await order.seal(sentAtMs);
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
    const loss = passage === 'lost' ? 'delivery-lost' : lose(delivery, number);
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
    work.now({ for: 'receiver', url: delivery.url, untilMs: attempt.sentAtMs + ATTEMPT_LIMIT_MS });
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
      const outOfTime = clock.sleep(ATTEMPT_LIMIT_MS, timeLimit.signal).then(() => null);
      const response = await Promise.race([answered, outOfTime]);
      if (response === null) {
        fail('no-answer', `No answer within ${ATTEMPT_LIMIT_MS / 1000} s.`);
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
      work.now({ for: 'clock', untilMs: nextMs });
      await clock.sleep(Math.max(0, nextMs - clock.now()), signal);
      work.now({ for: 'itself' });
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
      const work = pending.begin(delivery.name, delivery.jobId);
      const cancel = new AbortController();
      const end = (): void => {
        underway.delete(entry);
        work.done();
      };
      const run = async (): Promise<void> => {
        try {
          cancel.signal.throwIfAborted();
          await deliver(order, delivery, work, cancel.signal);
        } catch (error) {
          if (cancel.signal.aborted) {
            delivery.state = 'canceled';
            return;
          }
          delivery.state = 'given-up';
          delivery.error = error instanceof Error ? error : new Error(String(error));
          throw error;
        } finally {
          end();
        }
      };
      const entry: Underway = {
        cancel,
        running: undefined,
        abandon: () => {
          delivery.state = 'canceled';
          end();
        },
      };
      underway.add(entry);
      spawn(delivery.name, () => {
        entry.running = run();
        return entry.running;
      });
      return delivery;
    },

    async cancelAll() {
      const ending = [...underway].map(async (entry) => {
        entry.cancel.abort(new DOMException('The fake Sume was reset or disposed.', 'AbortError'));
        if (entry.running === undefined) entry.abandon();
        else await entry.running;
      });
      // A delivery that broke has put its error into the log; the others must end all the same.
      await Promise.allSettled(ending);
    },

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
