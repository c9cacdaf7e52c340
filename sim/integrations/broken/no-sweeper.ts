import type { Integration } from '../../world/integration.ts';
import { onTheCore } from '../core-parts.ts';

/** Ten attempts can all fail, and an expired job sends no event at all: the row says processing for ever. */
export const noSweeper: Integration = onTheCore({
  name: 'no-sweeper',
  text: 'Nothing closes a job whose webhook was lost.',
  caughtBy: ['converges'],
  handlers: () => ({ sweep: async () => {} }),
});
