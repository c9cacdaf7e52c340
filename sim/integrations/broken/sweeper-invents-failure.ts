import type { Integration } from '../../world/integration.ts';
import { onTheCore } from '../core-parts.ts';
import { forgottenJobs } from './by-hand.ts';
import { pollNews } from './poll-news.ts';
import { updateJob } from './statements.ts';

/** Not being able to ask is no answer. The job goes on at Sume, completes, and its event finds a failed row. */
export const sweeperInventsFailure: Integration = onTheCore({
  name: 'sweeper-invents-failure',
  text: 'The sweeper takes a 404 or a time-out for a failed job.',
  caughtBy: ['no-invention'],
  hasEffects: false,
  handlers: ({ ports, client }) => ({
    sweep: async () => {
      const { database, clock } = ports;
      for (const jobId of await forgottenJobs(ports)) {
        // Whatever the reason: that is the mistake.
        const news = await pollNews(client, jobId).catch(() => ({ jobId, status: 'failed' }));
        if (news !== null) await updateJob(database, news, new Date(clock.now()));
      }
    },
  }),
});
