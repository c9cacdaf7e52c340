import type { Integration } from '../world/integration.ts';
import { onTheCore } from './core-parts.ts';

/** The core as it runs where there are no advisory locks. What overlaps fails with 40001 there, and is tried again. */
export const guardedSerializable: Integration = onTheCore({
  name: 'guarded-serializable',
  text: 'The same core without locks, every transaction at serializable.',
  concurrency: 'serializable',
  handlers: () => ({}),
});
