import type { Integration } from '../../world/integration.ts';
import { onTheCore } from '../core-parts.ts';
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
      const { database, clock, patience } = ports;
      const { rows } = await database.query<{ job_id: string }>(
        'select job_id from sume_jobs where rank < 2 and updated_at < $1 order by job_id',
        [new Date(clock.now() - patience.staleAfterMs)],
      );
      for (const row of rows) {
        const news = await pollNews(client, row.job_id);
        if (news !== null) await overwriteJob(database, news, new Date(clock.now()));
      }
    },
  }),
});
