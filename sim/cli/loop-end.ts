import { visible } from '../report/visible.ts';
import { createLoopWatch } from '../testing/loop-watch.ts';
import { describeLoop, type LoopWatch } from '../world/loop-watch.ts';
import type { Run } from '../world/run.ts';
import type { Context } from './context.ts';
import { exitCode, exitCodeOf } from './exit-code.ts';
import type { ReportOptions } from './run-options.ts';
import { printed, type Remarks } from './show-run.ts';

/** How a command ends in the midst of code under test that loops. */
export interface LoopEnd {
  readonly watch: LoopWatch;
  /** Of the system that is run, once it is loaded. */
  context: Context;
  /** What a search has to say of the run in which it ended. */
  remarks: (run: Run) => Remarks;
}

/**
 * Shows the schedule that loops, as any other that violates something, and ends the process with its exit code. A
 * loop before any schedule (in the file itself, or in its `setup`) makes the file one that can't be used.
 */
export function createLoopEnd(
  path: string,
  limitMs: number,
  options: ReportOptions,
  context: Context,
): LoopEnd {
  const end: LoopEnd = {
    context,
    remarks: () => ({}),
    watch: createLoopWatch(limitMs, (loop, soFar) => {
      if (soFar === null) {
        const why = describeLoop('The code', loop);
        const text = `sume-sim: "${visible(path)}" could not be used: ${visible(why)}`;
        return { texts: [{ to: 'stderr', text }], code: exitCode.usage };
      }
      const run = soFar(loop);
      return {
        texts: printed(run, options, end.context, end.remarks(run)),
        code: exitCodeOf(run.verdict),
      };
    }),
  };
  return end;
}
