import type { Integration } from '../../world/integration.ts';
import { onTheCore } from '../core-parts.ts';
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
      const { database, clock, patience } = ports;
      const { rows } = await database.query<{ job_id: string }>(
        'select job_id from sume_jobs where rank < 2 and updated_at < $1 order by job_id',
        [new Date(clock.now() - patience.staleAfterMs)],
      );
      for (const { job_id: jobId } of rows) {
        // Whatever the reason: that is the mistake.
        const news = await pollNews(client, jobId).catch(() => ({ jobId, status: 'failed' }));
        if (news !== null) await updateJob(database, news, new Date(clock.now()));
      }
    },
  }),
});
