import type { Integration } from '../../world/integration.ts';
import { onTheCore } from '../core-parts.ts';

/** The answer is lost, the submit is called again, and Sume cannot know that it is the same. */
export const retryWithoutKey: Integration = onTheCore({
  name: 'retry-without-key',
  text: 'Submits without an idempotency key: a retried submit makes a second job, and pays for it.',
  caughtBy: ['no-lost-job'],
  handlers: ({ ports, reconciler }) => ({
    submit: async ({ key, model, input }) => {
      const { sume, fetch } = ports;
      const response = await fetch(`${sume.baseUrl}/models/${model}/runs`, {
        method: 'POST',
        headers: { authorization: `Bearer ${sume.apiKey}`, 'content-type': 'application/json' },
        body: JSON.stringify({ ...input, mode: 'webhook', webhook_url: sume.webhookUrl }),
      });
      const { data } = (await response.json()) as { data: { request_id: string } };
      await reconciler.register(data.request_id, { correlationId: key });
      return data.request_id;
    },
  }),
});
