import type { Integration } from '../../world/integration.ts';
import { onTheCore } from '../core-parts.ts';

/** A result that is not ready is an error at best, and half a file at worst. */
export const resultTooEarly: Integration = onTheCore({
  name: 'result-too-early',
  text: 'Reads the result after any poll, also of a job that is still processing.',
  caughtBy: ['result-only-when-ready'],
  handlers: ({ reconciler, client }) => ({
    poll: async (jobId) => {
      const { status } = await client.status(jobId);
      if (status === null) return;
      const result = await client.result(jobId).then(
        (answer) => answer.result,
        // 409 until the job has ended: it asked too early, and goes on without.
        () => null,
      );
      const hasEnded = status === 'completed' && result !== null;
      await reconciler.advance(jobId, status, { insert: true, ...(hasEnded ? { result } : {}) });
    },
  }),
});
