import type { Integration } from '../../world/integration.ts';
import { onTheCore, webhookHandler } from '../core-parts.ts';
import { insertAndDrain, lookThenParkEvent } from './by-hand.ts';

/** A transaction makes the two statements one, and does not make them alone. */
export const lookThenPark: Integration = onTheCore({
  name: 'look-then-park',
  text: 'Looks and then parks in one transaction, without a lock: on a real server both sides still look before the other commits.',
  caughtBy: ['parked-drains'],
  needs: 'postgres',
  hasEffects: false,
  handlers: ({ ports, client }) => {
    const { database, clock } = ports;
    return {
      submit: async ({ key, model, input }) => {
        const { webhookUrl } = ports.sume;
        const { jobId } = await client.submit({ model, input, idempotencyKey: key, webhookUrl });
        await database.transaction((tx) => insertAndDrain(tx, jobId, key, new Date(clock.now())));
        return jobId;
      },
      handleWebhook: webhookHandler(ports, {
        receive: (event) =>
          database.transaction((tx) => lookThenParkEvent(tx, event, new Date(clock.now()))),
      }),
    };
  },
});
