import {
  SumeApiError,
  type Clock,
  type Database,
  type Reconciler,
  type SubmitAnswer,
  type SumeClient,
} from '../../../src/index.ts';
import type { Metrics } from './metrics.ts';
import type { Orders } from './orders.ts';

/** What no retry can mend: the request itself, or its key used for something else. */
const REFUSALS = [400, 404, 409, 413, 422];

/**
 * Makes the work of submitting one order. It may run any number of times, also twice at once, and may stop at any
 * line: the order's id is the idempotency key, so Sume gives the same job back, and `register` is the same twice.
 *
 * Rejects when it has to be tried again.
 */
export function createSubmitOrder(parts: {
  database: Database;
  orders: Orders;
  client: SumeClient;
  reconciler: Reconciler;
  metrics: Metrics;
  clock: Clock;
  /** The longest pause that Sume may ask for here. */
  longestWaitMs: number;
}): (orderId: string) => Promise<void> {
  const { database, orders, client, reconciler, metrics, clock, longestWaitMs } = parts;

  return async (orderId) => {
    const order = await orders.read(orderId);
    if (order === null || order.jobId !== null || order.refusal !== null) return;
    let answer: SubmitAnswer;
    try {
      answer = await client.submit({ ...order.request, idempotencyKey: orderId });
    } catch (error) {
      metrics.submitted('failed', error);
      if (!(error instanceof SumeApiError)) throw error;
      if (REFUSALS.includes(error.status)) {
        await orders.refuse(orderId, error.message);
        return;
      }
      // A worker that was asked to wait takes no other order meanwhile: the whole service slows down.
      if (error.retryAfterMs !== null) {
        await clock.sleep(Math.min(error.retryAfterMs, longestWaitMs));
      }
      throw error;
    }
    metrics.submitted(answer.idempotencyHit ? 'repeated' : 'accepted');
    const registered = await database.transaction(
      async (tx) => {
        const outcome = await reconciler.register(answer.jobId, { correlationId: orderId }, tx);
        await orders.noteJob(tx, orderId, answer.jobId);
        return outcome;
      },
      { isolation: 'read committed' },
    );
    metrics.registered(registered);
  };
}
