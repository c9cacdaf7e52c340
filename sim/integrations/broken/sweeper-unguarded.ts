import type { Integration } from '../../world/integration.ts';
import { onTheCore } from '../core-parts.ts';
import { forgottenJobs } from './by-hand.ts';
import { pollNews } from './poll-news.ts';
import { overwriteJob } from './statements.ts';

/** The row was stale when the sweep chose it. By the time Sume has answered, the webhook may have ended it. */
export const sweeperUnguarded: Integration = onTheCore({
  name: 'sweeper-unguarded',
  text: 'The sweeper writes what it read, although the row may have moved on since.',
  caughtBy: ['rank-never-drops'],
  hasEffects: false,
  handlers: ({ ports, client }) => ({
    sweep: async () => {
      const { database, clock } = ports;
      for (const jobId of await forgottenJobs(ports)) {
        const news = await pollNews(client, jobId);
        if (news !== null) await overwriteJob(database, news, new Date(clock.now()));
      }
    },
  }),
});
