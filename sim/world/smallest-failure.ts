import { notJudged } from './confirm.ts';
import type { Counterexample } from './counterexample.ts';
import { hasEndlessLoop } from './loop-watch.ts';
import { NondeterminismError } from './nondeterminism-error.ts';
import type { Run } from './run.ts';
import type { Simulator } from './simulator.ts';

/**
 * A run that was found, had again twice and made as small as it gets. What fails only sometimes comes back with the
 * verdict `error`, and nothing smaller: by whichever of the replays it is noticed.
 */
export async function smallestFailure(
  simulator: Simulator,
  found: Run,
): Promise<{ run: Run; smallest: Counterexample | null }> {
  const run = await simulator.confirm(found);
  if (run.verdict !== 'fail' || hasEndlessLoop(run)) return { run, smallest: null };
  try {
    return { run, smallest: await simulator.shrink(run) };
  } catch (error) {
    if (!(error instanceof NondeterminismError)) throw error;
    return { run: notJudged(run, error), smallest: null };
  }
}
