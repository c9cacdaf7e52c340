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
import { exitCode, exitCodeOf } from '../exit-code.ts';
import { findNamed } from '../find-named.ts';
import { findSystem } from '../system.ts';
import { onInterruption, type Interruption } from '../interruption.ts';
import {
  addReportOptions,
  addRunOptions,
  DEFAULT_INTEGRATION,
  type RunOptions,
} from '../run-options.ts';
import { notChecked } from '../not-checked.ts';
import { startProgress } from '../progress.ts';
import type { Remarks } from '../show-run.ts';
import { showSmallest } from '../show-smallest.ts';
import { UsageError } from '../usage-error.ts';
import { addShardOptions, isIn, WHOLE, type ShardOptions } from '../shard.ts';
import { wholeNumber } from '../whole-number.ts';
import { asWorker, runAgain, runWorkers, withoutSharing } from '../workers.ts';
import { withSimulation } from '../with-simulation.ts';

interface FuzzOptions extends RunOptions, DatabaseOptions, ShardOptions {
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
  addShardOptions(command);
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
  sume-sim fuzz everything --runs 100000 --jobs 4
  sume-sim fuzz everything --runs 100000 --shard 3/16

Exit codes: 0 pass, 1 an invariant was violated, 2 wrong usage, 3 could not be judged.`,
    )
    .action(async (name: string, options: FuzzOptions) => {
      const { scenarios } = await import('../../world/scenarios.ts');
      const choice = databaseChoice(options);
      const chosen =
        name === 'all'
          ? scenarios.filter((scenario) => fits(scenario, choice))
          : [findNamed('scenario', scenarios, name)];
      for (const scenario of chosen) refuseUnfit(scenario, choice);
      const system = await findSystem(
        options.integration ?? DEFAULT_INTEGRATION,
        choice,
        context,
        options,
      );
      const runs = options.runs ?? DEFAULT_RUNS;
      const seed = options.seed ?? 1;
      if (seed + runs - 1 > MAX_SEED) {
        throw new UsageError(
          `--seed ${seed} with --runs ${runs} passes the largest seed, ${MAX_SEED}; begin lower`,
        );
      }
      const faults = options.faults === undefined ? {} : { faults: options.faults };
      const search = { scenarios: chosen, runs, seed, options };
      const withSimulators = (work: (create: CreateSimulator) => Promise<void>): Promise<void> =>
        withSimulation(system.context, choice, (database, createSimulator) =>
          work((scenario) => createSimulator({ ...system.options, scenario, database, ...faults })),
        );
      if ((options.jobs ?? 1) > 1) return fuzzInWorkers(search, withSimulators, system.context);
      // Before the database opens: Ctrl-C meanwhile is a wish to stop too, and one schedule is soon run.
      const interruption = onInterruption();
      await withSimulators(async (create) =>
        report(await fuzz(search, create, interruption, system.context), search, system.context),
      );
    });
}

type CreateSimulator = (scenario: Scenario) => Promise<Simulator>;

interface Search {
  scenarios: readonly Scenario[];
  /** Of each scenario. */
  runs: number;
  /** The first. */
  seed: number;
  options: FuzzOptions;
}

/** How many schedules the search has, or its shard. */
function plannedOf({ scenarios, runs, options: { shard = WHOLE } }: Search): number {
  const all = scenarios.length * runs;
  return Math.floor(all / shard.of) + (shard.index <= all % shard.of ? 1 : 0);
}

/** @throws {UsageError} if the shard has nothing to do. */
function refuseEmpty(
  { scenarios, runs, options: { shard = WHOLE } }: Search,
  planned: number,
): void {
  if (planned > 0) return;
  throw new UsageError(
    `--shard ${shard.index}/${shard.of} holds none of the ${scenarios.length * runs} schedules; raise --runs, or ` +
      'take fewer shards',
  );
}

/** A schedule's place in the search, from 0. */
function placeOf({ scenarios, runs, seed }: Search, scenario: string, ofSeed: number): number {
  return scenarios.findIndex(({ name }) => name === scenario) * runs + (ofSeed - seed);
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
  simulatorFor: CreateSimulator,
  interruption: Interruption,
  context: Context,
): Promise<Found> {
  const { shard = WHOLE } = search.options;
  const planned = plannedOf(search);
  refuseEmpty(search, planned);
  const worker = asWorker();
  const progress = startProgress(context.stderr, planned);
  let last: { run: Run; simulator: Simulator } | null = null;
  let done = 0;
  let elapsedMs = 0;
  if (context.loopEnd !== undefined) {
    context.loopEnd.remarks = () => {
      progress.stop();
      const schedulesPerSecond = perSecond(done, elapsedMs);
      return remarksOn({ done: done + 1, schedulesPerSecond }, search, false);
    };
  }
  try {
    search: for (const scenario of search.scenarios) {
      const simulator = await simulatorFor(scenario);
      const startedMs = context.clock.now() - elapsedMs;
      for (let seed = search.seed; seed < search.seed + search.runs; seed += 1) {
        const place = placeOf(search, scenario.name, seed);
        if (!isIn(shard, place)) continue;
        if (last !== null && !worker.isNeeded(place)) break search;
        last = { simulator, run: await simulator.run({ seed }) };
        done += 1;
        worker.tell(done);
        elapsedMs = context.clock.now() - startedMs;
        progress.update(done, `${scenario.name}, seed ${seed}, ${perSecond(done, elapsedMs)}/s`);
        if (last.run.verdict !== 'pass' || interruption.happened) break search;
      }
    }
  } finally {
    progress.stop();
    interruption.release();
    worker.release();
  }
  if (last === null) throw new Error('No schedule was run.');
  const schedulesPerSecond = perSecond(done, elapsedMs);
  return { ...last, done, schedulesPerSecond, interrupted: interruption.happened };
}

/** One decimal is all that a measurement over so short a time is worth. */
function perSecond(done: number, elapsedMs: number): number {
  return Math.round((done / Math.max(elapsedMs, 1)) * 10_000) / 10;
}

/** What the search says of the run that it shows. */
function remarksOn(
  { done, schedulesPerSecond }: Pick<Found, 'done' | 'schedulesPerSecond'>,
  search: Search,
  passed: boolean,
): Remarks {
  const planned = plannedOf(search);
  const complete = passed && done === planned;
  return {
    headline: passed ? 'the last schedule' : `the first found: ${done} of ${planned} schedules`,
    fields: { runs: done, schedulesPerSecond, firstSeed: search.seed, complete },
  };
}

async function report(found: Found, search: Search, context: Context): Promise<void> {
  const { run, simulator, done, schedulesPerSecond, interrupted } = found;
  const { options } = search;
  const planned = plannedOf(search);
  const searched = `${done} of ${planned} schedules`;
  if (run.verdict !== 'pass' || options.json === true || options.mermaid === true) {
    const remarks = remarksOn(found, search, run.verdict === 'pass');
    await showSmallest(simulator, run, options, context, remarks);
  } else {
    const { stdout } = context;
    const palette = ansiPalette(stdout.colour);
    const scenario = search.scenarios.length === 1 ? run.scenario : 'all scenarios';
    const part =
      options.shard === undefined ? '' : `, shard ${options.shard.index}/${options.shard.of}`;
    const seeds = `seeds ${search.seed} to ${search.seed + search.runs - 1}${part}`;
    await stdout.write(headline({ ...run, scenario, seed: search.seed }, palette) + ` (${seeds})`);
    const outcome = interrupted ? 'interrupted, and so far no' : 'no';
    const speed = `${schedulesPerSecond} a second`;
    await stdout.write(
      palette('good', `✓ pass: ${outcome} invariant was violated in ${searched}, ${speed}.`),
    );
    for (const line of notChecked(context, { width: stdout.width, palette })) {
      await stdout.write(line);
    }
    context.finish(exitCode.pass);
  }
  if (interrupted && run.verdict === 'pass') context.finish(exitCode.interrupted);
}

/** What a worker prints: its run, and what belongs to its share. */
type Answer = Run & { runs: number; schedulesPerSecond: number };

/** The same search in several processes, with the same end: the first violating schedule is the one reported. */
async function fuzzInWorkers(
  search: Search,
  withSimulators: (work: (create: CreateSimulator) => Promise<void>) => Promise<void>,
  context: Context,
): Promise<void> {
  const { options } = search;
  const planned = plannedOf(search);
  refuseEmpty(search, planned);
  const jobs = Math.min(options.jobs ?? 1, planned);
  const progress = startProgress(context.stderr, planned);
  const placeOfRun = ({ scenario, seed }: Run): number => placeOf(search, scenario, seed ?? 0);
  const { answers, interrupted } = await runWorkers<Answer>({
    args: withoutSharing(process.argv.slice(2)),
    jobs,
    shard: options.shard ?? WHOLE,
    onProgress: (done) => progress.update(done, `in ${jobs} processes`),
    foundAt: (answer) => (answer.verdict === 'pass' ? null : placeOfRun(answer)),
  }).finally(() => progress.stop());
  const [first] = answers
    .filter(({ verdict }) => verdict !== 'pass')
    .toSorted((one, other) => placeOfRun(one) - placeOfRun(other));
  const run = first ?? answers.at(-1);
  if (run === undefined) throw new Error('No schedule was run.');
  const sum = (numbers: number[]): number => numbers.reduce((total, number) => total + number, 0);
  const done = sum(answers.map(({ runs }) => runs));
  const schedulesPerSecond =
    Math.round(sum(answers.map((answer) => answer.schedulesPerSecond)) * 10) / 10;
  if (options.json === true) {
    const complete = run.verdict === 'pass' && done === planned;
    const totals = { runs: done, schedulesPerSecond, firstSeed: search.seed, complete };
    await context.stdout.write(JSON.stringify({ ...run, ...totals }));
    const code = exitCodeOf(run.verdict);
    context.finish(interrupted && run.verdict === 'pass' ? exitCode.interrupted : code);
    return;
  }
  const found = { done, schedulesPerSecond, interrupted };
  await withSimulators(async (create) => {
    const scenario = search.scenarios.find(({ name }) => name === run.scenario);
    if (scenario === undefined) throw new Error(`A worker ran ${run.scenario}.`);
    const simulator = await create(scenario);
    const again = await runAgain(simulator, run);
    await report({ ...found, simulator, run: again }, search, context);
  });
}
