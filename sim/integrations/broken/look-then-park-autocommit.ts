import type { Integration } from '../../world/integration.ts';
import { onTheCore, webhookHandler } from '../core-parts.ts';
import { insertAndDrain, lookThenParkEvent } from './by-hand.ts';

/** Between the look that finds no row and the insert that parks, the submit worker inserts the job and finds
 * nothing parked. Each side looked before the other wrote. */
export const lookThenParkAutocommit: Integration = onTheCore({
  name: 'look-then-park-autocommit',
  text: 'Looks for the job and then parks, in separate statements without a lock: the row slips in between.',
  caughtBy: ['parked-drains'],
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
        receive: (event) => lookThenParkEvent(database, event, new Date(clock.now())),
      }),
    };
  },
});
