import type { Integration } from '../../world/integration.ts';
import { onTheCore } from '../core-parts.ts';
import { deleteParked, findParked, insertJob, updateJob } from './statements.ts';

/** For a moment the row stands committed beside its parked event. A worker that dies in that moment leaves it so:
 * the job is known from then on, so nobody looks for a parked event again. */
export const drainOutsideTransaction: Integration = onTheCore({
  name: 'drain-outside-transaction',
  text: 'Inserts the job in one transaction and drains in a second: a crash between them strands the event.',
  caughtBy: ['parked-drains'],
  hasEffects: false,
  handlers: ({ ports, client }) => ({
    submit: async ({ key, model, input }) => {
      const { database, clock } = ports;
      const { webhookUrl } = ports.sume;
      const { jobId } = await client.submit({ model, input, idempotencyKey: key, webhookUrl });
      await database.transaction((tx) => insertJob(tx, jobId, key, new Date(clock.now())));
      await database.transaction(async (tx) => {
        const parked = await findParked(tx, jobId);
        if (parked === null) return;
        await updateJob(tx, parked, new Date(clock.now()));
        await deleteParked(tx, jobId);
      });
      return jobId;
    },
  }),
});
