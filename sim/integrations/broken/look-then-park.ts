import type { Integration } from '../../world/integration.ts';
import { onTheCore, webhookHandler } from '../core-parts.ts';
import {
  deleteParked,
  findParked,
  insertJob,
  jobExists,
  parkEvent,
  updateJob,
} from './statements.ts';

/** A transaction makes the two statements one, and does not make them alone. Shows only with several connections. */
export const lookThenPark: Integration = onTheCore({
  name: 'look-then-park',
  text: 'Looks and then parks in one transaction, without a lock: on a real server both sides still look before the other commits.',
  caughtBy: ['parked-drains'],
  hasEffects: false,
  handlers: ({ ports, client }) => {
    const { database, clock } = ports;
    return {
      submit: async ({ key, model, input }) => {
        const { webhookUrl } = ports.sume;
        const { jobId } = await client.submit({ model, input, idempotencyKey: key, webhookUrl });
        await database.transaction(async (tx) => {
          const at = new Date(clock.now());
          await insertJob(tx, jobId, key, at);
          const parked = await findParked(tx, jobId);
          if (parked === null) return;
          await updateJob(tx, parked, at);
          await deleteParked(tx, jobId);
        });
        return jobId;
      },
      handleWebhook: webhookHandler(ports, {
        receive: (event) =>
          database.transaction(async (tx) => {
            const at = new Date(clock.now());
            if (await jobExists(tx, event.jobId)) {
              return (await updateJob(tx, event, at)) > 0 ? 'applied' : 'duplicate';
            }
            await parkEvent(tx, event, at);
            return 'parked';
          }),
      }),
    };
  },
});
