import type { Command } from 'commander';
import { headline } from '../../report/verdict.ts';
import type { Exploration } from '../../world/explore.ts';
import { hasEndlessLoop } from '../../world/loop-watch.ts';
import { isNondeterministic } from '../../world/nondeterminism-error.ts';
import type { Run } from '../../world/run.ts';
import type { Simulator } from '../../world/simulator.ts';
import { ansiPalette } from '../ansi-palette.ts';
import type { Context } from '../context.ts';
import {
  addDatabaseOptions,
  databaseChoice,
  refuseUnfit,
  type DatabaseOptions,
} from '../database-options.ts';
import { exitCode, exitCodeOf } from '../exit-code.ts';
import { findNamed } from '../find-named.ts';
import { findSystem } from '../system.ts';
import { onInterruption } from '../interruption.ts';
import { notChecked } from '../not-checked.ts';
import { startProgress } from '../progress.ts';
import {
  addReportOptions,
  DEFAULT_INTEGRATION,
  INTEGRATION_TEXT,
  type ReportOptions,
} from '../run-options.ts';
import type { Remarks } from '../show-run.ts';
import { showSmallest } from '../show-smallest.ts';
import { addShardOptions, isIn, WHOLE, type Shard, type ShardOptions } from '../shard.ts';
import { wholeNumber } from '../whole-number.ts';
import { asWorker, runAgain, runWorkers, withoutSharing } from '../workers.ts';
import { withSimulation } from '../with-simulation.ts';

interface ExploreCommandOptions extends ReportOptions, DatabaseOptions, ShardOptions {
  integration?: string;
  faults?: number;
  max?: number;
  seconds?: number;
  departures?: number;
}

/** What ended a search before it had covered everything. */
type Limit = 'max' | 'seconds' | 'interrupted' | 'nondeterminism' | 'endless_loop' | null;

const MOST_FAULTS = 20;
const MOST_DEPARTURES = 100;
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
    .option('--integration <name>', INTEGRATION_TEXT)
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
  command.option(
    '--departures <n>',
    'not every order, but every schedule with at most so many departures from run-to-completion',
    wholeNumber('--departures', 0, MOST_DEPARTURES),
  );
  addDatabaseOptions(command);
  addShardOptions(command);
  addReportOptions(command);
  command
    .addHelpText(
      'after',
      `
Two orders are equivalent when one becomes the other by swapping neighbouring steps that touch nothing in
common; one of them stands for both. A limit or Ctrl-C ends the search with what was covered so far, and says
so: "complete" is true only when nothing was left out. The shortest violating schedule is shown,
as small as it gets.
Too many orders to finish (everything, retry-storm)? --departures searches outward from run-to-completion, the
schedule in which each task goes on for as long as it can: first every schedule with one departure (a switch to
another task, or a fault), then with two, and so on. "departures" says how far it got.
--shard and --jobs share the sets of faults; the limits hold for each process. A set that others grow from is
run by each of them, and counted by one.

Examples:
  sume-sim explore early-webhook --faults 1
  sume-sim explore early-webhook --integration look-then-park-autocommit
  sume-sim explore stale-poll --faults 2 --seconds 60 --json
  sume-sim explore orphan --faults 2 --jobs 4
  sume-sim explore everything --departures 2 --faults 1
  sume-sim explore open-transaction --database postgres --integration look-then-park

Exit codes: 0 pass (a limit without a violation too), 1 an invariant was violated, 2 wrong usage,
3 could not be judged, 130 ended by Ctrl-C.`,
    )
    .action(async (name: string, options: ExploreCommandOptions) => {
      const { scenarios } = await import('../../world/scenarios.ts');
      const scenario = findNamed('scenario', scenarios, name);
      const choice = databaseChoice(options);
      refuseUnfit(scenario, choice);
      const system = await findSystem(
        options.integration ?? DEFAULT_INTEGRATION,
        choice,
        context,
        options,
      );
      const withSimulator = (work: (simulator: Simulator) => Promise<void>): Promise<void> =>
        withSimulation(system.context, choice, async (database, createSimulator) =>
          work(await createSimulator({ ...system.options, scenario, database })),
        );
      if ((options.jobs ?? 1) > 1) return searchInWorkers(withSimulator, options, system.context);
      await withSimulator(async (simulator) => {
        const { exploration, limit } = await search(simulator, options, system.context);
        await report(simulator, exploration, limit, options, system.context);
      });
    });
}

async function search(
  simulator: Simulator,
  options: ExploreCommandOptions,
  context: Context,
): Promise<{ exploration: Explored; limit: Limit }> {
  const { faults = 0, max, seconds, shard = WHOLE, departures } = options;
  const worker = asWorker();
  const interruption = onInterruption();
  const progress = startProgress(context.stderr, max ?? null);
  const deadlineMs = seconds === undefined ? Infinity : context.clock.now() + seconds * 1_000;
  const stop = new AbortController();
  let limit: Limit = null;
  let done = 0;
  if (context.loopEnd !== undefined) {
    context.loopEnd.remarks = (run) => {
      progress.stop();
      const covered = {
        schedules: done + 1,
        orders: null,
        faultSets: null,
        ...(departures === undefined ? {} : { departures: -1 }),
        complete: false,
        failures: [run],
        last: run,
      };
      return remarksOn(covered, 'endless_loop', options);
    };
  }
  const keepLimits = (schedules: number, text: string): void => {
    done = schedules;
    progress.update(schedules, text);
    worker.tell(schedules);
    if (interruption.happened) limit = 'interrupted';
    else if (context.clock.now() >= deadlineMs) limit = 'seconds';
    if (limit !== null) stop.abort();
  };
  const shared = {
    faults,
    ...(max === undefined ? {} : { maxSchedules: max }),
    covers: (number: number) => isIn(shard, number),
    signal: stop.signal,
  };
  try {
    if (departures !== undefined) {
      const bounded = await simulator.searchByDepartures({
        ...shared,
        departures,
        onProgress: (at) =>
          keepLimits(at.schedules, `schedules, those with ${plural(at.departures, 'departure')}`),
      });
      const exploration = { ...bounded, orders: null, faultSets: null };
      const isWhole = bounded.complete || bounded.departures === departures;
      return { exploration, limit: isWhole ? null : (limit ?? endOf(exploration)) };
    }
    const exploration = await simulator.explore({
      ...shared,
      onProgress: ({ schedules, faultSets, faultSetsLeft }) => {
        const sets = `fault set ${faultSets - faultSetsLeft} of ${faultSets}`;
        keepLimits(schedules, faults === 0 ? 'schedules' : `schedules, ${sets}`);
      },
    });
    return { exploration, limit: exploration.complete ? null : (limit ?? endOf(exploration)) };
  } finally {
    progress.stop();
    interruption.release();
    worker.release();
  }
}

/** What ended a search that neither its time nor Ctrl-C did. */
function endOf({ failures }: Pick<Exploration, 'failures'>): Limit {
  return failures.some(isNondeterministic) ? 'nondeterminism' : 'max';
}

/** What a search covered, by sets of faults or by departures. */
type Explored = Omit<Exploration, 'faultSets'> & {
  faultSets: number | null;
  /** Every schedule with so many departures was covered; −1 if none was. */
  departures?: number;
};

/** What a worker prints: a run, and what it covered. */
type Answer = Run &
  Omit<Explored, 'failures' | 'last'> & {
    limit: Limit;
    failures: number;
  };

/** The same search in several processes, each with its share of the sets of faults. */
async function searchInWorkers(
  withSimulator: (work: (simulator: Simulator) => Promise<void>) => Promise<void>,
  options: ExploreCommandOptions,
  context: Context,
): Promise<void> {
  const { jobs = 1, shard = WHOLE } = options;
  const progress = startProgress(context.stderr, null);
  const { answers } = await runWorkers<Answer>({
    args: withoutSharing(process.argv.slice(2)),
    jobs,
    shard,
    onProgress: (done) => progress.update(done, `schedules, in ${jobs} processes`),
    foundAt: () => null,
  }).finally(() => progress.stop());
  const failing = answers
    .filter(({ verdict }) => verdict !== 'pass')
    .toSorted((one, other) => one.steps.length - other.steps.length);
  const run = failing.find(isNondeterministic) ?? failing[0] ?? answers.at(-1);
  if (run === undefined) throw new Error('No schedule was run.');
  const sum = (numbers: number[]): number => numbers.reduce((total, number) => total + number, 0);
  const counted = answers.map(({ orders }) => orders).filter((orders) => orders !== null);
  const covered = {
    schedules: sum(answers.map(({ schedules }) => schedules)),
    orders: counted.length === answers.length ? sum(counted) : null,
    faultSets: answers[0]?.faultSets ?? null,
    ...(options.departures === undefined
      ? {}
      : { departures: Math.min(...answers.map(({ departures = -1 }) => departures)) }),
    complete: answers.every(({ complete }) => complete),
  };
  const limit = answers.find((answer) => answer.limit !== null)?.limit ?? null;
  const failures = sum(answers.map((answer) => answer.failures));
  if (options.json === true) {
    await context.stdout.write(JSON.stringify({ ...run, ...covered, limit, failures }));
    const code = exitCodeOf(run.verdict);
    context.finish(limit === 'interrupted' && failures === 0 ? exitCode.interrupted : code);
    return;
  }
  await withSimulator(async (simulator) => {
    const last = await runAgain(simulator, run);
    const exploration = { ...covered, last, failures: failing.length > 0 ? [last] : [] };
    await report(simulator, exploration, limit, options, context);
  });
}

/** What the search says of the run that it shows. */
function remarksOn(explored: Explored, limit: Limit, { shard }: ExploreCommandOptions): Remarks {
  const { complete, schedules, orders, faultSets, departures, failures } = explored;
  const [shortest] = failures;
  const covered = describe(explored, limit, shard);
  const endedIt =
    shortest !== undefined && (isNondeterministic(shortest) || hasEndlessLoop(shortest));
  const which = endedIt
    ? 'the last schedule'
    : `the shortest of ${plural(failures.length, 'violating schedule')}`;
  return {
    headline: shortest === undefined ? 'the last schedule' : `${which}; ${covered}`,
    fields: {
      schedules,
      orders,
      faultSets,
      ...(departures === undefined ? {} : { departures }),
      ...(shard === undefined ? {} : { shard }),
      complete,
      limit,
      failures: failures.length,
    },
  };
}

async function report(
  simulator: Simulator,
  exploration: Explored,
  limit: Limit,
  options: ExploreCommandOptions,
  context: Context,
): Promise<void> {
  const { failures, last } = exploration;
  const [shortest] = failures;
  if (shortest !== undefined || options.json === true || options.mermaid === true) {
    const remarks = remarksOn(exploration, limit, options);
    await showSmallest(simulator, shortest ?? last, options, context, remarks);
  } else {
    const { stdout } = context;
    const palette = ansiPalette(stdout.colour);
    await stdout.write(`${headline(last, palette)}\n`);
    await stdout.write(
      palette(
        'good',
        `✓ pass: no invariant was violated in ${describe(exploration, limit, options.shard)}.`,
      ),
    );
    for (const line of notChecked(context, { width: stdout.width, palette })) {
      await stdout.write(line);
    }
    context.finish(exitCode.pass);
  }
  if (limit === 'interrupted' && shortest === undefined) context.finish(exitCode.interrupted);
}

const ENDED: Readonly<Record<Exclude<Limit, null>, string>> = {
  max: 'the limit of --max was reached',
  seconds: 'the limit of --seconds was reached',
  interrupted: 'interrupted',
  nondeterminism: 'the code did otherwise than before',
  endless_loop: 'the code looped',
};

/** What was covered, and what was not, in words. */
function describe(explored: Explored, limit: Limit, shard: Shard | undefined): string {
  const { schedules, orders, faultSets, departures, complete } = explored;
  const stand = orders === null ? '' : `, which stand for ${orders.toLocaleString('en')} orders`;
  const count = `${plural(schedules, 'schedule')}${stand}`;
  const part = shard === undefined ? '' : ` in shard ${shard.index}/${shard.of}, and in no other`;
  if (departures !== undefined && !complete) {
    const whole =
      departures < 0
        ? ''
        : `: every one with at most ${plural(departures, 'departure')} from run-to-completion${part}`;
    const end = limit === null ? 'those with more' : `${ENDED[limit]}, so those with more`;
    return `${count}${whole}; ${end} were not covered`;
  }
  if (limit !== null) return `${count}; ${ENDED[limit]}, so other orders were not covered`;
  const sets =
    faultSets === null || faultSets === 1
      ? 'without a fault'
      : `with each of ${faultSets} sets of faults`;
  return `every order ${departures === undefined ? sets : 'that there is'}${part}: ${count}`;
}

function plural(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}
