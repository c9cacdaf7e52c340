import type { Integration } from '../../world/integration.ts';
import { onTheCore, webhookHandler } from '../core-parts.ts';
import { updateJob } from './statements.ts';

/** The upsert that parks an event updates the row that is there. The first end of a job is final, also while it
 * waits. */
export const parkOverwrites: Integration = onTheCore({
  name: 'park-overwrites',
  text: 'A second event for a parked job replaces the first.',
  caughtBy: ['parked-never-replaced'],
  hasEffects: false,
  handlers: ({ ports }) => ({
    handleWebhook: webhookHandler(ports, {
      receive: async (event) => {
        const { database, clock } = ports;
        const at = new Date(clock.now());
        const { jobId, event: name, status, body } = event;
        return database.transaction(async (tx) => {
          if ((await updateJob(tx, event, at)) > 0) return 'applied';
          const { rows } = await tx.query('select job_id from sume_jobs where job_id = $1', [
            jobId,
          ]);
          if (rows.length > 0) return 'duplicate';
          await tx.query(
            `insert into sume_parked (job_id, event, status, body, received_at, deliveries)
             values ($1, $2, $3, $4, $5, 1)
             on conflict (job_id) do update
             set event = excluded.event, status = excluded.status, body = excluded.body`,
            [jobId, name, status, body, at],
          );
          return 'parked';
        });
      },
    }),
  }),
});
