import { columns } from '../report/columns.ts';
import { explain } from '../report/explain.ts';
import { headline, verdict } from '../report/verdict.ts';
import type { Counterexample } from '../world/counterexample.ts';
import type { Run } from '../world/run.ts';

/** Fits the terminals and the logs of most machines. */
const WIDTH = 100;

/** How one has the schedule again, from the test that found it. */
const replayCall = (token: string): string =>
  `await checkIntegration(integration, { replay: '${token}' });`;

/** A run that was not passed, for a person: the first line, the columns, and why. */
export function failureText(
  run: Run,
  remark: string,
  counterexample: Counterexample | null,
): string {
  const shown = counterexample?.run ?? run;
  const size =
    counterexample === null || counterexample.complete
      ? ''
      : `; not the smallest: stopped after ${counterexample.schedules} schedules`;
  return [
    `${headline({ ...shown, seed: run.seed })} (${remark}${size})`,
    '',
    columns(shown, { width: WIDTH }),
    '',
    verdict(shown, {
      width: WIDTH,
      replayCommand: replayCall,
      explanation: counterexample === null ? [] : explain(counterexample, { width: WIDTH }),
    }),
  ].join('\n');
}
