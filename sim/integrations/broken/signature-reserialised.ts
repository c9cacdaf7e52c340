import type { Integration } from '../../world/integration.ts';
import { onTheCore, webhookHandler } from '../core-parts.ts';

/** What a body parser hands over is not what was signed: spaces, escapes and 1.0 are gone. */
export const signatureReserialised: Integration = onTheCore({
  name: 'signature-reserialised',
  text: 'Checks the signature over the parsed and re-written JSON, not over the bytes that came.',
  caughtBy: ['genuine-is-accepted'],
  handlers: ({ ports, reconciler }) => {
    const handle = webhookHandler(ports, reconciler);
    return {
      handleWebhook: async (request) =>
        handle(
          new Request(request.url, {
            method: 'POST',
            headers: request.headers,
            body: JSON.stringify(await request.json()),
          }),
        ),
    };
  },
});
