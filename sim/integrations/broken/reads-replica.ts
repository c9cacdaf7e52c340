import type { Integration } from '../../world/integration.ts';
import { onTheCore, webhookHandler } from '../core-parts.ts';
import { jobExists, parkEvent, updateJob } from './statements.ts';

/** The look goes to a replica and the write to the primary. The event is parked beside the row that it belongs to. */
export const readsReplica: Integration = onTheCore({
  name: 'reads-replica',
  text: 'Decides on a copy that lags: a job that was just inserted looks unknown.',
  caughtBy: [
    'rank-never-drops',
    'terminal-never-changes',
    'parked-never-replaced',
    'ack-is-durable',
    'parked-drains',
  ],
  hasEffects: false,
  handlers: ({ ports }) => ({
    handleWebhook: webhookHandler(ports, {
      receive: async (event) => {
        const at = new Date(ports.clock.now());
        if (await jobExists(ports.replica, event.jobId)) {
          return (await updateJob(ports.database, event, at)) > 0 ? 'applied' : 'duplicate';
        }
        await parkEvent(ports.database, event, at);
        return 'parked';
      },
    }),
  }),
});
