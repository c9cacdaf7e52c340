import { readEvent } from '../../../src/index.ts';
import type { Integration } from '../../world/integration.ts';
import { onTheCore } from '../core-parts.ts';

/** Whoever knows the address and a job id can end the job, and fill the parking table with whatever they like. */
export const signatureSkipped: Integration = onTheCore({
  name: 'signature-skipped',
  text: 'Does not check the signature: anyone can write.',
  caughtBy: ['unsigned-is-inert'],
  handlers: ({ reconciler }) => ({
    handleWebhook: async (request) => {
      const reading = readEvent(await request.text());
      if (reading.kind === 'malformed') return new Response(null, { status: 400 });
      if (reading.kind === 'unknown') return new Response(null, { status: 204 });
      const outcome = await reconciler.receive(reading.event);
      return Response.json({ outcome }, { status: outcome === 'parked' ? 202 : 200 });
    },
  }),
});
