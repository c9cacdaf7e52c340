import { assembleFakeSume } from './assemble.ts';
import type { FakeSume, FakeSumeOptions } from './fake-sume.ts';

/**
 * Makes a fake Sume. It shares nothing with any other: two in one process never meet, unless both get the
 * same base URL in the same MSW server, where the first one answers.
 *
 * A request takes effect in plain promise turns, without timers. Throws `BadOptionError` for options that
 * cannot work.
 */
export function createFakeSume(options: FakeSumeOptions): FakeSume {
  return assembleFakeSume(options).fake;
}
