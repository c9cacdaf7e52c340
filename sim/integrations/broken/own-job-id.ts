import type { Integration } from '../../world/integration.ts';
import { onTheCore } from '../core-parts.ts';

/** An id made before the submit avoids the early webhook, and every other one too: Sume knows only its own. */
export const ownJobId: Integration = onTheCore({
  name: 'own-job-id',
  text: 'Keeps the job under an id of its own: the webhook names one that is in no row.',
  caughtBy: ['no-lost-job', 'no-invention'],
  handlers: ({ ports, reconciler, client }) => ({
    submit: async ({ key, model, input }) => {
      const ownId = `order_${key}`;
      await reconciler.register(ownId);
      await client.submit({ model, input, idempotencyKey: key, webhookUrl: ports.sume.webhookUrl });
      return ownId;
    },
  }),
});
