import { MAX_SEED } from '../engine/random.ts';
import { decodeToken } from '../engine/token.ts';
import type { Exploration } from '../world/explore.ts';
import { isNondeterministic } from '../world/nondeterminism-error.ts';
import type { Run } from '../world/run.ts';
import type { SimulationDatabase } from '../world/session.ts';
import { createSimulator, type Simulator } from '../world/simulator.ts';
import { smallestFailure } from '../world/smallest-failure.ts';
import { CheckOptionError, InvariantViolatedError, NotJudgedError } from './check-errors.ts';
import { failureText } from './failure-text.ts';
import type { IntegrationUnderTest } from './integration-under-test.ts';
import { kitLoopWatch } from './kit-loop-watch.ts';
import { scenariosNamed } from './scenario-named.ts';
import { toSystem } from './to-integration.ts';
import { unchecked } from './unchecked.ts';
import { withDatabase } from './with-database.ts';

export interface CheckOptions {
  /** What happens: the name of a scenario (`sume-sim list` shows them), or `all`; `everything` by default. */
  scenario?: string;
  /** How many schedules of each scenario are drawn, one seed each, or with `every` run at the most; 500 by default. */
  runs?: number;
  /** The first seed; 1 by default, so that a check is the same every time. */
  seed?: number;
  /** The most faults in one schedule; the scenario's own number by default, and none with `every`. */
  faults?: number;
  /** Runs every inequivalent order instead of drawing some, for every set of up to `faults` faults. */
  every?: boolean;
  /** Runs the one schedule of a token instead, as a failure printed it. */
  replay?: string;
  /** A PGlite that nothing else uses. By default one is made, which takes seconds, and closed in the end. */
  database?: SimulationDatabase;
}

/** What was done, where nothing was violated. */
export interface CheckResult {
  scenarios: string[];
  /** Schedules that were run. */
  runs: number;
  /** Whether that was every inequivalent order; null where orders were drawn. */
  complete: boolean | null;
  /** What could not be judged, one sentence each: for want of a reader, say. */
  unchecked: string[];
}

/** All of them, as the compiler sees to: JavaScript may name others. */
const OPTIONS: Readonly<Record<keyof CheckOptions, true>> = {
  scenario: true,
  runs: true,
  seed: true,
  faults: true,
  every: true,
  replay: true,
  database: true,
};

const DEFAULT_SCENARIO = 'everything';
const DEFAULT_RUNS = 500;

/**
 * Runs a team's integration, on its own tables, through the orders of events that break integrations.
 *
 * A failure is replayed twice, made as small as it gets, and explained. The same options run the same schedules,
 * at some 50 to 200 a second: give the test a time limit that fits.
 *
 * @throws {InvariantViolatedError} with the explained counterexample as its message.
 * @throws {NotJudgedError} for code that waits outside the ports, or is not deterministic.
 * @throws {IntegrationShapeError} {@link CheckOptionError} {@link TokenError} for what can't be run at all.
 * @throws {SetupError} when the integration's `setup` throws, with what the database said.
 * @throws {ReaderError} when a reader of the integration throws or gives what is no row.
 */
export async function checkIntegration(
  integration: IntegrationUnderTest,
  options: CheckOptions = {},
): Promise<CheckResult> {
  knownNames(options);
  const { replay, every = false, runs = DEFAULT_RUNS, seed = 1 } = options;
  wholeNumber('runs', runs, 1, MAX_SEED);
  wholeNumber('seed', seed, 0, MAX_SEED - runs + 1);
  if (options.faults !== undefined) wholeNumber('faults', options.faults, 0, 1000);
  const chosen = scenariosNamed(
    replay === undefined ? (options.scenario ?? DEFAULT_SCENARIO) : decodeToken(replay).scenario,
  );
  const system = toSystem(integration);
  return withDatabase(options.database, async (database) => {
    let done = 0;
    let complete = true;
    for (const scenario of chosen) {
      const faults = options.faults === undefined ? {} : { faults: options.faults };
      const simulator = await createSimulator({
        ...system,
        loopWatch: kitLoopWatch,
        scenario,
        database,
        ...faults,
      });
      if (replay !== undefined) {
        // The code has changed since, one hopes: what the token names and is not there any more is passed over.
        const run = await simulator.replay(replay, { lenient: true });
        await refuse(simulator, run, 'replayed from its token');
        done += 1;
      } else if (every) {
        const exploration = await simulator.explore({
          faults: options.faults ?? 0,
          maxSchedules: runs,
        });
        done += exploration.schedules;
        complete &&= exploration.complete;
        const [failure] = exploration.failures;
        if (failure !== undefined) {
          await refuse(simulator, failure, foundAmong(exploration));
        }
      } else {
        for (let next = seed; next < seed + runs; next += 1) {
          const run = await simulator.run({ seed: next });
          done += 1;
          const remark = `found by schedule ${next - seed + 1} of ${runs}`;
          if (run.verdict !== 'pass') await refuse(simulator, run, remark);
        }
      }
    }
    return {
      scenarios: chosen.map(({ name }) => name),
      runs: done,
      complete: every ? complete : null,
      unchecked: unchecked(integration),
    };
  });
}

function foundAmong({ failures, schedules }: Exploration): string {
  return failures.some(isNondeterministic)
    ? `the search ended at schedule ${schedules}`
    : `the shortest of ${failures.length} found`;
}

/** Throws if the run did not pass. */
async function refuse(simulator: Simulator, found: Run, remark: string): Promise<void> {
  if (found.verdict === 'pass') return;
  const { run, smallest } = await smallestFailure(simulator, found);
  const text = failureText(run, remark, smallest);
  throw smallest === null
    ? new NotJudgedError(text, run)
    : new InvariantViolatedError(text, smallest);
}

function knownNames(options: CheckOptions): void {
  const unknown = Object.keys(options).filter((name) => !Object.hasOwn(OPTIONS, name));
  if (unknown.length === 0) return;
  throw new CheckOptionError(
    `There is no option ${unknown.join(', ')}. There are ${Object.keys(OPTIONS).join(', ')}.`,
  );
}

function wholeNumber(name: string, value: number, least: number, most: number): void {
  if (Number.isInteger(value) && value >= least && value <= most) return;
  throw new CheckOptionError(
    `${name} is ${value}, and should be a whole number from ${least} to ${most}.`,
  );
}
