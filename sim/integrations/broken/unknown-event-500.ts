import type { Integration } from '../../world/integration.ts';
import { onTheCore, webhookHandler } from '../core-parts.ts';

/** The day Sume adds a type of event, every one of them is answered 500 and sent ten times. */
export const unknownEvent500: Integration = onTheCore({
  name: 'unknown-event-500',
  text: 'Throws on an event name that it does not know.',
  caughtBy: ['genuine-is-accepted'],
  handlers: ({ ports, reconciler }) => {
    const handle = webhookHandler(ports, reconciler);
    return {
      handleWebhook: async (request) => {
        const response = await handle(request);
        if (response.status === 204) throw new Error('Unhandled event type.');
        return response;
      },
    };
  },
});
