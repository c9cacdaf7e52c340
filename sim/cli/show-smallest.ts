import { explain } from '../report/explain.ts';
import { kitTest, vitestTest } from '../report/vitest-test.ts';
import type { Counterexample } from '../world/counterexample.ts';
import type { Run } from '../world/run.ts';
import type { Simulator } from '../world/simulator.ts';
import { smallestFailure } from '../world/smallest-failure.ts';
import { ansiPalette } from './ansi-palette.ts';
import type { Context } from './context.ts';
import type { ReportOptions } from './run-options.ts';
import { showRun, type Remarks } from './show-run.ts';

/**
 * Prints what a search found. A failure is first had again from its token, twice, and is then shown as small as
 * it gets: its columns, what races in it, a test to paste and the command that replays it. JSON holds the run as
 * it was found, and the small one beside it.
 */
export async function showSmallest(
  simulator: Simulator,
  found: Run,
  options: ReportOptions,
  context: Context,
  remarks: Remarks,
): Promise<void> {
  const { run, smallest } = await smallestFailure(simulator, found);
  if (smallest === null) return showRun(run, options, context, remarks);
  // The published package brings PGlite, and no server.
  const test = run.database === 'pglite' ? testOf(smallest, context) : null;
  if (options.json === true) {
    const shrunk = jsonOf(smallest, test);
    return showRun(run, options, context, { ...remarks, fields: { ...remarks.fields, shrunk } });
  }
  const { stdout, stderr } = context;
  const target = options.mermaid === true ? stderr : stdout;
  const palette = ansiPalette(target.colour);
  const explanation = explain(smallest, { width: target.width, palette });
  // The seed is of the run that was found.
  return showRun({ ...smallest.run, seed: run.seed }, options, context, {
    ...remarks,
    subline: describeSize(run, smallest),
    explanation: [
      ...explanation,
      ...(test === null ? [] : ['', 'As a test, ready to paste:', '', test]),
    ],
  });
}

function testOf(smallest: Counterexample, { integrationFile }: Context): string {
  return integrationFile === undefined
    ? vitestTest(smallest.run, smallest)
    : kitTest(smallest.run, smallest, integrationFile);
}

function describeSize(run: Run, smallest: Counterexample): string {
  const { steps, deviations, schedules, complete } = smallest;
  const departures = deviations.length === 1 ? '1 departure' : `${deviations.length} departures`;
  return (
    `Shrunk from ${run.steps.length} steps to ${steps.length}, with ${departures} from ` +
    `run-to-completion (${complete ? '' : 'not the smallest: stopped after '}${schedules} schedules).`
  );
}

function jsonOf(smallest: Counterexample, test: string | null): Record<string, unknown> {
  const { steps, deviations, without, token, invariant, schedules, complete, race } = smallest;
  return {
    steps,
    deviations,
    token,
    invariant,
    without,
    schedules,
    complete,
    race:
      race === null
        ? null
        : {
            first: race.first,
            second: race.second,
            on: race.on,
            swapped: { verdict: race.swapped.verdict, token: race.swapped.token },
          },
    test,
  };
}
