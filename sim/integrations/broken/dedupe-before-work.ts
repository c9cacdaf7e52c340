import type { Integration } from '../../world/integration.ts';
import { onTheCore, webhookHandler } from '../core-parts.ts';

/** The delivery is written down in a transaction of its own, before the work. A crash between the two makes the
 * retry look like something that was done. */
export const dedupeBeforeWork: Integration = onTheCore({
  name: 'dedupe-before-work',
  text: 'Remembers the delivery before it does the work: after a failure the retry counts as a duplicate.',
  caughtBy: ['ack-is-durable'],
  tables: {
    name: 'seen_events',
    ddl: 'create table if not exists seen_events (event_id text primary key)',
  },
  handlers: ({ ports, reconciler }) => ({
    handleWebhook: async (request) => {
      const eventId = request.headers.get('x-sume-event-id');
      const handle = webhookHandler(ports, {
        receive: async (event) => {
          const { affectedRows } = await ports.database.query(
            'insert into seen_events (event_id) values ($1) on conflict (event_id) do nothing',
            [eventId],
          );
          return affectedRows === 0 ? 'duplicate' : reconciler.receive(event);
        },
      });
      return handle(request);
    },
  }),
});
