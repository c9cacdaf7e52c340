import type { Integration } from '../../world/integration.ts';
import { onTheCore, webhookHandler } from '../core-parts.ts';
import { pollNews } from './poll-news.ts';
import { insertJob, overwriteJob, type JobNews } from './statements.ts';

/** The poll and the webhook both write the row, and the later write wins: a poll that was answered before the end
 * arrives after it, and puts "processing" over "completed". */
export const naiveUpdate: Integration = onTheCore({
  name: 'naive-update',
  text: 'Writes whatever arrived last, whoever sent it and whenever that was true.',
  caughtBy: ['rank-never-drops'],
  hasEffects: false,
  handlers: ({ ports, client }) => {
    const { database, clock } = ports;
    const write = async (news: JobNews): Promise<void> => {
      const at = new Date(clock.now());
      await insertJob(database, news.jobId, null, at);
      await overwriteJob(database, news, at);
    };
    return {
      submit: async ({ key, model, input }) => {
        const { webhookUrl } = ports.sume;
        const { jobId } = await client.submit({ model, input, idempotencyKey: key, webhookUrl });
        await insertJob(database, jobId, key, new Date(clock.now()));
        return jobId;
      },
      handleWebhook: webhookHandler(ports, {
        receive: async (event) => {
          await write(event);
          return 'applied';
        },
      }),
      poll: async (jobId) => {
        const news = await pollNews(client, jobId);
        if (news !== null) await write(news);
      },
    };
  },
});
