import { createReconciler } from '../../../src/index.ts';
import type { Integration } from '../../world/integration.ts';
import { onTheCore, recordEffect, webhookHandler } from '../core-parts.ts';

/** The row is guarded, and what hangs on it is not: a duplicate sends the second e-mail, a conflict the wrong one. */
export const effectUnguarded: Integration = onTheCore({
  name: 'effect-unguarded',
  text: 'The effect of an end runs for every delivery, also for those that changed nothing.',
  caughtBy: ['effect-once'],
  handlers: ({ ports }) => {
    const { database, clock } = ports;
    const silent = createReconciler({ database, clock });
    return {
      handleWebhook: webhookHandler(ports, {
        receive: async (event) => {
          const outcome = await silent.receive(event);
          if (outcome !== 'parked') await recordEffect(event, database, new Date(clock.now()));
          return outcome;
        },
      }),
    };
  },
});
