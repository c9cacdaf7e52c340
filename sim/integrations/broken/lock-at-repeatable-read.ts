import type { Queryable } from '../../../src/index.ts';
import type { Integration } from '../../world/integration.ts';
import { onTheCore, webhookHandler } from '../core-parts.ts';
import { insertAndDrain, lookThenParkEvent } from './by-hand.ts';

/** Whoever waits for the lock goes on with the snapshot from before the wait, and does not see what the other
 * wrote meanwhile. */
export const lockAtRepeatableRead: Integration = onTheCore({
  name: 'lock-at-repeatable-read',
  text: 'Takes the lock inside a repeatable-read transaction: the lock statement itself fixes the snapshot.',
  caughtBy: ['parked-drains'],
  needs: 'postgres',
  hasEffects: false,
  handlers: ({ ports, client }) => {
    const { database, clock } = ports;
    const locked = <T>(jobId: string, work: (tx: Queryable) => Promise<T>): Promise<T> =>
      database.transaction(async (tx) => {
        await tx.query('set transaction isolation level repeatable read');
        await tx.query('select pg_advisory_xact_lock(hashtextextended($1, 0))', [jobId]);
        return work(tx);
      });
    return {
      submit: async ({ key, model, input }) => {
        const { webhookUrl } = ports.sume;
        const { jobId } = await client.submit({ model, input, idempotencyKey: key, webhookUrl });
        await locked(jobId, (tx) => insertAndDrain(tx, jobId, key, new Date(clock.now())));
        return jobId;
      },
      handleWebhook: webhookHandler(ports, {
        receive: (event) =>
          locked(event.jobId, (tx) => lookThenParkEvent(tx, event, new Date(clock.now()))),
      }),
    };
  },
});
