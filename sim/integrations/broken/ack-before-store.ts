import type { Integration } from '../../world/integration.ts';
import { onTheCore, webhookHandler } from '../core-parts.ts';

/** "Answer fast, work later", with nothing durable in between. Sume never sends again what was answered 2xx. */
export const ackBeforeStore: Integration = onTheCore({
  name: 'ack-before-store',
  text: 'Answers 2xx before the event is stored: a crash in between loses it.',
  caughtBy: ['ack-is-durable'],
  handlers: ({ ports, reconciler }) => ({
    handleWebhook: webhookHandler(ports, {
      receive: async (event) => {
        reconciler.receive(event).catch(() => {
          // Nobody is left to tell: that is the mistake.
        });
        return 'applied';
      },
    }),
  }),
});
