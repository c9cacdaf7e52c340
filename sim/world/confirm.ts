import { hasEndlessLoop } from './loop-watch.ts';
import { NondeterminismError } from './nondeterminism-error.ts';
import type { Run } from './run.ts';

/** How often a failure is run again before anyone hears of it. */
const REPLAYS = 2;

/**
 * A failing run, once its token has given it again twice, step for step. Where a replay takes another course,
 * the run with the verdict `error` instead, and the first step where the two part: what cannot be had again
 * can't be judged. A run that did not fail, or ended in a loop, is given back as it is.
 *
 * @param replay runs the token without regard to whether it fits.
 */
export async function confirm(run: Run, replay: () => Promise<Run>): Promise<Run> {
  if (run.verdict !== 'fail' || hasEndlessLoop(run)) return run;
  for (let time = 1; time <= REPLAYS; time += 1) {
    const again = await replay();
    const difference = firstDifference(run, again);
    if (difference === null) continue;
    return notJudged(
      run,
      new NondeterminismError(`Replayed, the same schedule took another course. ${difference}`),
    );
  }
  return run;
}

/** A run that failed, as one that can't be judged, and why. */
export function notJudged(run: Run, { code, message }: NondeterminismError): Run {
  return { ...run, verdict: 'error', error: { code, message } };
}

/** The first step where two runs part, in a sentence, or null if they are the same. */
function firstDifference(one: Run, other: Run): string | null {
  const length = Math.max(one.steps.length, other.steps.length);
  for (let index = 0; index < length; index += 1) {
    const [before, after] = [one.steps[index], other.steps[index]];
    if (JSON.stringify(before) === JSON.stringify(after)) continue;
    return `They part at step ${index + 1}: first it was ${inWords(before)}, then ${inWords(after)}.`;
  }
  if (JSON.stringify(one.violations) === JSON.stringify(other.violations)) return null;
  return 'Every step is the same, and the violations are not.';
}

function inWords(step: Run['steps'][number] | undefined): string {
  if (step === undefined) return 'the end';
  const changes = step.changes.length === 0 ? '' : `, with ${JSON.stringify(step.changes)}`;
  return `"${step.label}" (${step.text}${changes})`;
}
