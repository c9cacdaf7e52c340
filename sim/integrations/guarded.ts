import type { Integration } from '../world/integration.ts';
import { onTheCore } from './core-parts.ts';

/** The reconciliation core as a system under test. */
export const guarded: Integration = onTheCore({
  name: 'guarded',
  text: 'The reconciliation core: guarded writes, parked events, and a sweeper.',
  handlers: () => ({}),
});
