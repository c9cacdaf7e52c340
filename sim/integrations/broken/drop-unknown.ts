import type { Integration } from '../../world/integration.ts';
import { onTheCore, webhookHandler } from '../core-parts.ts';
import { updateJob } from './statements.ts';

/** An update that changes no row is taken for a duplicate. It is just as well an event that came before its row,
 * and Sume, told 2xx, never sends it again. */
export const dropUnknown: Integration = onTheCore({
  name: 'drop-unknown',
  text: 'An event for a job that it does not know is answered 2xx and forgotten.',
  caughtBy: ['ack-is-durable'],
  hasEffects: false,
  handlers: ({ ports }) => ({
    handleWebhook: webhookHandler(ports, {
      receive: async (event) => {
        const written = await updateJob(ports.database, event, new Date(ports.clock.now()));
        return written > 0 ? 'applied' : 'duplicate';
      },
    }),
  }),
});
