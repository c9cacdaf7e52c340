import type { Command } from 'commander';
import type { Run } from '../../world/run.ts';
import type { Scenario } from '../../world/scenarios.ts';
import type { Simulator } from '../../world/simulator.ts';
import { MAX_SEED } from '../../engine/random.ts';
import { headline } from '../../report/verdict.ts';
import { ansiPalette } from '../ansi-palette.ts';
import type { Context } from '../context.ts';
import {
  addDatabaseOptions,
  databaseChoice,
  fits,
  refuseUnfit,
  type DatabaseOptions,
} from '../database-options.ts';
import { exitCode } from '../exit-code.ts';
import { findNamed } from '../find-named.ts';
import { onInterruption, type Interruption } from '../interruption.ts';
import {
  addReportOptions,
  addRunOptions,
  DEFAULT_INTEGRATION,
  type RunOptions,
} from '../run-options.ts';
import { startProgress } from '../progress.ts';
import { showSmallest } from '../show-smallest.ts';
import { UsageError } from '../usage-error.ts';
import { wholeNumber } from '../whole-number.ts';
import { withSimulation } from '../with-simulation.ts';

interface FuzzOptions extends RunOptions, DatabaseOptions {
  runs?: number;
}

const DEFAULT_RUNS = 1000;
const MOST_RUNS = 100_000_000;

/** `fuzz`: one schedule after another, each from the next seed, until one violates an invariant. */
export function addFuzzCommand(program: Command, context: Context): void {
  const command = program
    .command('fuzz')
    .description('run many schedules, and show the first that violates an invariant')
    .argument('[scenario]', 'what happens, or "all" for every scenario in turn', 'all')
    .option(
      '--runs <n>',
      `schedules of each scenario (default: ${DEFAULT_RUNS})`,
      wholeNumber('--runs', 1, MOST_RUNS),
    );
  addRunOptions(command, 'the first schedule; the others follow by ones (default: 1)');
  addDatabaseOptions(command);
  addReportOptions(command);
  command
    .addHelpText(
      'after',
      `
The first violating schedule is run twice more, so as to be sure of it, and is shown as small as it gets: without
the steps, faults and jobs that it can do without. JSON holds it as it was found, and "shrunk" beside it. On a
pass, JSON and the diagram hold the last schedule.
Ctrl-C ends the search with what was covered so far, and exit code 130. A second one ends it at once.

Examples:
  sume-sim fuzz stale-poll --integration naive-update --runs 200
  sume-sim fuzz all --runs 500 --seed 7000 --json
  sume-sim fuzz everything --runs 100000

Exit codes: 0 pass, 1 an invariant was violated, 2 wrong usage, 3 could not be judged.`,
    )
    .action(async (name: string, options: FuzzOptions) => {
      const { scenarios } = await import('../../world/scenarios.ts');
      const { integrations } = await import('../../integrations/index.ts');
      const choice = databaseChoice(options);
      const chosen =
        name === 'all'
          ? scenarios.filter((scenario) => fits(scenario, choice))
          : [findNamed('scenario', scenarios, name)];
      for (const scenario of chosen) refuseUnfit(scenario, choice);
      const integration = findNamed(
        'integration',
        integrations,
        options.integration ?? DEFAULT_INTEGRATION,
      );
      const runs = options.runs ?? DEFAULT_RUNS;
      const seed = options.seed ?? 1;
      if (seed + runs - 1 > MAX_SEED) {
        throw new UsageError(
          `--seed ${seed} with --runs ${runs} passes the largest seed, ${MAX_SEED}; begin lower`,
        );
      }
      const faults = options.faults === undefined ? {} : { faults: options.faults };
      // Before the database opens: Ctrl-C meanwhile is a wish to stop too, and one schedule is soon run.
      const search = { scenarios: chosen, runs, seed, options, interruption: onInterruption() };
      await withSimulation(context, choice, async (database, createSimulator) => {
        const found = await fuzz(
          search,
          (scenario) => createSimulator({ scenario, integration, database, ...faults }),
          context,
        );
        await report(found, search, context);
      });
    });
}

interface Search {
  scenarios: readonly Scenario[];
  /** Of each scenario. */
  runs: number;
  /** The first. */
  seed: number;
  options: FuzzOptions;
  interruption: Interruption;
}

interface Found {
  /** The one that did not pass, or the last. */
  run: Run;
  /** What ran it. */
  simulator: Simulator;
  done: number;
  schedulesPerSecond: number;
  interrupted: boolean;
}

async function fuzz(
  search: Search,
  simulatorFor: (scenario: Scenario) => Promise<Simulator>,
  context: Context,
): Promise<Found> {
  const { interruption } = search;
  const progress = startProgress(context.stderr, search.scenarios.length * search.runs);
  let last: { run: Run; simulator: Simulator } | null = null;
  let done = 0;
  let elapsedMs = 0;
  try {
    search: for (const scenario of search.scenarios) {
      const simulator = await simulatorFor(scenario);
      const startedMs = context.clock.now() - elapsedMs;
      for (let seed = search.seed; seed < search.seed + search.runs; seed += 1) {
        last = { simulator, run: await simulator.run({ seed }) };
        done += 1;
        elapsedMs = context.clock.now() - startedMs;
        progress.update(done, `${scenario.name}, seed ${seed}, ${perSecond(done, elapsedMs)}/s`);
        if (last.run.verdict !== 'pass' || interruption.happened) break search;
      }
    }
  } finally {
    progress.stop();
    interruption.release();
  }
  if (last === null) throw new Error('No schedule was run.');
  const schedulesPerSecond = perSecond(done, elapsedMs);
  return { ...last, done, schedulesPerSecond, interrupted: interruption.happened };
}

/** One decimal is all that a measurement over so short a time is worth. */
function perSecond(done: number, elapsedMs: number): number {
  return Math.round((done / Math.max(elapsedMs, 1)) * 10_000) / 10;
}

async function report(found: Found, search: Search, context: Context): Promise<void> {
  const { run, simulator, done, schedulesPerSecond, interrupted } = found;
  const { options } = search;
  const planned = search.scenarios.length * search.runs;
  const complete = run.verdict === 'pass' && done === planned;
  const searched = `${done} of ${planned} schedules`;
  if (run.verdict !== 'pass' || options.json === true || options.mermaid === true) {
    const fields = { runs: done, schedulesPerSecond, firstSeed: search.seed, complete };
    await showSmallest(simulator, run, options, context, {
      headline: run.verdict === 'pass' ? 'the last schedule' : `the first found: ${searched}`,
      fields,
    });
  } else {
    const { stdout } = context;
    const palette = ansiPalette(stdout.colour);
    const scenario = search.scenarios.length === 1 ? run.scenario : 'all scenarios';
    const seeds = `seeds ${search.seed} to ${search.seed + search.runs - 1}`;
    await stdout.write(headline({ ...run, scenario, seed: search.seed }, palette) + ` (${seeds})`);
    const outcome = interrupted ? 'interrupted, and so far no' : 'no';
    const speed = `${schedulesPerSecond} a second`;
    await stdout.write(
      palette('good', `✓ pass: ${outcome} invariant was violated in ${searched}, ${speed}.`),
    );
    context.finish(exitCode.pass);
  }
  if (interrupted && run.verdict === 'pass') context.finish(exitCode.interrupted);
}
