import type { Integration } from '../../world/integration.ts';
import { onTheCore, webhookHandler } from '../core-parts.ts';

/** The else branch of "completed or failed": what a user canceled is reported to that user as broken. */
export const canceledIsFailed: Integration = onTheCore({
  name: 'canceled-is-failed',
  text: 'All that is not completed becomes failed, a cancelation too.',
  caughtBy: ['converges', 'no-invention'],
  handlers: ({ ports, reconciler }) => ({
    handleWebhook: webhookHandler(ports, {
      receive: (event) =>
        event.status === 'completed'
          ? reconciler.receive(event)
          : reconciler.receive({ ...event, event: 'job.failed', status: 'failed' }),
    }),
  }),
});
