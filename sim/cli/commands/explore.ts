import type { Command } from 'commander';
import { headline } from '../../report/verdict.ts';
import type { Exploration } from '../../world/explore.ts';
import type { Simulator } from '../../world/simulator.ts';
import { ansiPalette } from '../ansi-palette.ts';
import type { Context } from '../context.ts';
import {
  addDatabaseOptions,
  databaseChoice,
  refuseUnfit,
  type DatabaseOptions,
} from '../database-options.ts';
import { exitCode } from '../exit-code.ts';
import { findNamed } from '../find-named.ts';
import { onInterruption } from '../interruption.ts';
import { startProgress } from '../progress.ts';
import { addReportOptions, DEFAULT_INTEGRATION, type ReportOptions } from '../run-options.ts';
import { showSmallest } from '../show-smallest.ts';
import { wholeNumber } from '../whole-number.ts';
import { withSimulation } from '../with-simulation.ts';

interface ExploreCommandOptions extends ReportOptions, DatabaseOptions {
  integration?: string;
  faults?: number;
  max?: number;
  seconds?: number;
}

/** What ended a search before it had covered everything. */
type Limit = 'max' | 'seconds' | 'interrupted' | null;

const MOST_FAULTS = 20;
const MOST_SCHEDULES = 100_000_000;
const MOST_SECONDS = 1_000_000;

/** `explore`: every inequivalent order of a scenario, for every set of faults up to a number. */
export function addExploreCommand(program: Command, context: Context): void {
  const command = program
    .command('explore')
    .description(
      'run every inequivalent order of a scenario, with every set of faults up to a number',
    )
    .argument('[scenario]', 'what happens', 'early-webhook')
    .option('--integration <name>', `the system under test (default: ${DEFAULT_INTEGRATION})`)
    .option(
      '--faults <k>',
      'the most faults in one schedule (default: 0)',
      wholeNumber('--faults', 0, MOST_FAULTS),
    )
    .option('--max <n>', 'stop after so many schedules', wholeNumber('--max', 1, MOST_SCHEDULES))
    .option(
      '--seconds <n>',
      'stop after so many seconds',
      wholeNumber('--seconds', 1, MOST_SECONDS),
    );
  addDatabaseOptions(command);
  addReportOptions(command);
  command
    .addHelpText(
      'after',
      `
Two orders are equivalent when one becomes the other by swapping neighbouring steps that touch nothing in
common; one of them stands for both. A limit or Ctrl-C ends the search with what was covered so far, and says
so: "complete" is true only when nothing was left out. The shortest violating schedule is shown,
as small as it gets.

Examples:
  sume-sim explore early-webhook --faults 1
  sume-sim explore early-webhook --integration look-then-park-autocommit
  sume-sim explore stale-poll --faults 2 --seconds 60 --json
  sume-sim explore open-transaction --database postgres --integration look-then-park

Exit codes: 0 pass (a limit without a violation too), 1 an invariant was violated, 2 wrong usage,
3 could not be judged, 130 ended by Ctrl-C.`,
    )
    .action(async (name: string, options: ExploreCommandOptions) => {
      const { scenarios } = await import('../../world/scenarios.ts');
      const { integrations } = await import('../../integrations/index.ts');
      const scenario = findNamed('scenario', scenarios, name);
      const choice = databaseChoice(options);
      refuseUnfit(scenario, choice);
      const integration = findNamed(
        'integration',
        integrations,
        options.integration ?? DEFAULT_INTEGRATION,
      );
      await withSimulation(context, choice, async (database, createSimulator) => {
        const simulator = await createSimulator({ scenario, integration, database });
        const { exploration, limit } = await search(simulator, options, context);
        await report(simulator, exploration, limit, options, context);
      });
    });
}

async function search(
  simulator: Simulator,
  options: ExploreCommandOptions,
  context: Context,
): Promise<{ exploration: Exploration; limit: Limit }> {
  const { faults = 0, max, seconds } = options;
  const interruption = onInterruption();
  const progress = startProgress(context.stderr, max ?? null);
  const deadlineMs = seconds === undefined ? Infinity : context.clock.now() + seconds * 1_000;
  const stop = new AbortController();
  let limit: Limit = null;
  try {
    const exploration = await simulator.explore({
      faults,
      ...(max === undefined ? {} : { maxSchedules: max }),
      signal: stop.signal,
      onProgress: ({ schedules, faultSets, faultSetsLeft }) => {
        const sets = `fault set ${faultSets - faultSetsLeft} of ${faultSets}`;
        progress.update(schedules, faults === 0 ? 'schedules' : `schedules, ${sets}`);
        if (interruption.happened) limit = 'interrupted';
        else if (context.clock.now() >= deadlineMs) limit = 'seconds';
        if (limit !== null) stop.abort();
      },
    });
    return { exploration, limit: exploration.complete ? null : (limit ?? 'max') };
  } finally {
    progress.stop();
    interruption.release();
  }
}

async function report(
  simulator: Simulator,
  exploration: Exploration,
  limit: Limit,
  options: ExploreCommandOptions,
  context: Context,
): Promise<void> {
  const { complete, schedules, orders, faultSets, failures, last } = exploration;
  const [shortest] = failures;
  const covered = describe(exploration, limit);
  if (shortest !== undefined || options.json === true || options.mermaid === true) {
    const failing =
      failures.length === 1 ? '1 violating schedule' : `${failures.length} violating schedules`;
    await showSmallest(simulator, shortest ?? last, options, context, {
      headline:
        shortest === undefined ? 'the last schedule' : `the shortest of ${failing}; ${covered}`,
      fields: { schedules, orders, faultSets, complete, limit, failures: failures.length },
    });
  } else {
    const { stdout } = context;
    const palette = ansiPalette(stdout.colour);
    await stdout.write(`${headline(last, palette)}\n`);
    await stdout.write(palette('good', `✓ pass: no invariant was violated in ${covered}.`));
    context.finish(exitCode.pass);
  }
  if (limit === 'interrupted' && shortest === undefined) context.finish(exitCode.interrupted);
}

const ENDED: Readonly<Record<Exclude<Limit, null>, string>> = {
  max: 'the limit of --max was reached',
  seconds: 'the limit of --seconds was reached',
  interrupted: 'interrupted',
};

/** What was covered, and what was not, in words. */
function describe({ schedules, orders, faultSets }: Exploration, limit: Limit): string {
  const stand = orders === null ? '' : `, which stand for ${orders.toLocaleString('en')} orders`;
  const sets = faultSets === 1 ? 'without a fault' : `with each of ${faultSets} sets of faults`;
  return limit === null
    ? `every order ${sets}: ${schedules} schedules${stand}`
    : `${schedules} schedules${stand}; ${ENDED[limit]}, so other orders were not covered`;
}
