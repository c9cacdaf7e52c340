import type { Integration } from '../../world/integration.ts';
import { onTheCore } from '../core-parts.ts';
import { insertJob } from './statements.ts';

/** Half of the pattern: the event is safe, and nobody ever comes for it. */
export const parkNeverDrain: Integration = onTheCore({
  name: 'park-never-drain',
  text: 'Parks early events, and never looks for them when the job is inserted.',
  caughtBy: ['parked-drains'],
  handlers: ({ ports, client }) => ({
    submit: async ({ key, model, input }) => {
      const { webhookUrl } = ports.sume;
      const { jobId } = await client.submit({ model, input, idempotencyKey: key, webhookUrl });
      await insertJob(ports.database, jobId, key, new Date(ports.clock.now()));
      return jobId;
    },
  }),
});
