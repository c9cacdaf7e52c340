import { describeLoop, type EndlessLoop, type LoopWatch } from '../world/loop-watch.ts';
import type { Run } from '../world/run.ts';
import { failureText } from './failure-text.ts';
import { createLoopWatch, LOOP_LIMIT_MS, type LastWords } from './loop-watch.ts';

/** One for all checks of a process: one schedule runs at a time. */
export const kitLoopWatch: LoopWatch = createLoopWatch(LOOP_LIMIT_MS, lastWords);

/**
 * What a test runner's process says on stderr before it ends: as long as the loop has the thread nothing can be thrown
 * there, and no time limit of the runner's is kept either.
 */
export function lastWords(
  loop: EndlessLoop,
  soFar: ((loop: EndlessLoop) => Run) | null,
): ReturnType<LastWords> {
  const text =
    soFar === null
      ? `sume-sim: ${describeLoop('The code', loop)}`
      : failureText(soFar(loop), 'this process ends here', null);
  return { texts: [{ to: 'stderr', text }], code: 1 };
}
