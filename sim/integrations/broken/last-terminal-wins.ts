import type { Integration } from '../../world/integration.ts';
import { onTheCore, webhookHandler } from '../core-parts.ts';
import { overwriteJob } from './statements.ts';

/** A terminal event is taken as final each time one comes: the guard against going back does not ask whether the
 * job has ended already. */
export const lastTerminalWins: Integration = onTheCore({
  name: 'last-terminal-wins',
  text: 'A second end of the job overwrites the first.',
  caughtBy: ['rank-never-drops', 'terminal-never-changes', 'parked-never-replaced'],
  hasEffects: false,
  handlers: ({ ports, reconciler }) => ({
    handleWebhook: webhookHandler(ports, {
      receive: async (event) => {
        const written = await overwriteJob(ports.database, event, new Date(ports.clock.now()));
        return written > 0 ? 'applied' : reconciler.receive(event);
      },
    }),
  }),
});
