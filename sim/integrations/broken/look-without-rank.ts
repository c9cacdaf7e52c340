import type { Integration } from '../../world/integration.ts';
import { onTheCore, webhookHandler } from '../core-parts.ts';
import { jobExists, updateJob } from './statements.ts';

/** "No row was updated, and there is one" does not mean that it had ended. */
export const lookWithoutRank: Integration = onTheCore({
  name: 'look-without-rank',
  text: 'Updates, and takes any row that is there for a duplicate, in one transaction: a row that was inserted in between is still queued.',
  caughtBy: ['ack-is-durable'],
  needs: 'postgres',
  hasEffects: false,
  handlers: ({ ports, reconciler }) => ({
    handleWebhook: webhookHandler(ports, {
      receive: async (event) => {
        const outcome = await ports.database.transaction(async (tx) => {
          if ((await updateJob(tx, event, new Date(ports.clock.now()))) > 0) return 'applied';
          // The row may have come after the update had looked: it exists, and nobody has ended it.
          return (await jobExists(tx, event.jobId)) ? 'duplicate' : null;
        });
        // Parks with the lock, as it should be.
        return outcome ?? reconciler.receive(event);
      },
    }),
  }),
});
