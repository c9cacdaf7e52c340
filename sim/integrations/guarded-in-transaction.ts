import type { Integration } from '../world/integration.ts';
import { onTheCore } from './core-parts.ts';

/** The job's row and the caller's own are written together or not at all. */
export const guardedInTransaction: Integration = onTheCore({
  name: 'guarded-in-transaction',
  text: "The core, with jobs registered in a transaction of the caller's, beside a row of theirs.",
  tables: {
    name: 'orders',
    ddl: 'create table if not exists orders (key text primary key, job_id text not null)',
  },
  handlers: ({ ports, reconciler, client }) => ({
    submit: async ({ key, model, input }) => {
      const { webhookUrl } = ports.sume;
      const { jobId } = await client.submit({ model, input, idempotencyKey: key, webhookUrl });
      await ports.database.transaction(
        async (tx) => {
          await tx.query(
            'insert into orders (key, job_id) values ($1, $2) on conflict (key) do nothing',
            [key, jobId],
          );
          await reconciler.register(jobId, { correlationId: key }, tx);
        },
        { isolation: 'read committed' },
      );
      return jobId;
    },
  }),
});
