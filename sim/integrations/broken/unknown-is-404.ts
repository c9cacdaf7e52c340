import type { Integration } from '../../world/integration.ts';
import { onTheCore, webhookHandler } from '../core-parts.ts';
import { jobExists, updateJob } from './statements.ts';

/** The event of a job that is not there yet is refused, in the hope that a retry comes after the row. Whether one
 * does depends on how long the submit worker takes, and each refusal uses up one of ten attempts. */
export const unknownIs404: Integration = onTheCore({
  name: 'unknown-is-404',
  text: 'An event for a job that it does not know is answered 404, until the retries are spent.',
  caughtBy: ['genuine-is-accepted'],
  hasEffects: false,
  handlers: ({ ports }) => ({
    handleWebhook: async (request) => {
      let isKnown = true;
      const handle = webhookHandler(ports, {
        receive: async (event) => {
          isKnown = await jobExists(ports.database, event.jobId);
          if (!isKnown) return 'duplicate';
          const written = await updateJob(ports.database, event, new Date(ports.clock.now()));
          return written > 0 ? 'applied' : 'duplicate';
        },
      });
      const response = await handle(request);
      return isKnown ? response : new Response('No such job.', { status: 404 });
    },
  }),
});
