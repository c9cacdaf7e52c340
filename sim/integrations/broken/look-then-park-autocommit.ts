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
        receive: async (event) => {
          const at = new Date(clock.now());
          if (await jobExists(database, event.jobId)) {
            return (await updateJob(database, event, at)) > 0 ? 'applied' : 'duplicate';
          }
          await parkEvent(database, event, at);
          return 'parked';
        },
      }),
    };
  },
});
