import {
  createOrderChooser,
  createRecordedChooser,
  type Chooser,
  type Drift,
  type RecordedChooser,
  type Rule,
} from '../engine/chooser.ts';
import type { Observation } from '../engine/engine.ts';
import { createPickingChooser, type Picks } from '../engine/picking-chooser.ts';
import { createRandom } from '../engine/random.ts';
import { createSeededChooser } from '../engine/seeded-chooser.ts';
import { decodeToken, type Recipe } from '../engine/token.ts';
import { confirm } from './confirm.ts';
import type { Counterexample } from './counterexample.ts';
import {
  searchByDepartures,
  type BoundedSearch,
  type BoundedSearchOptions,
} from './bounded-search.ts';
import { explore, type Exploration, type ExploreOptions } from './explore.ts';
import type { FaultName } from './faults.ts';
import type { Integration } from './integration.ts';
import type { LoopWatch } from './loop-watch.ts';
import type { InvariantName, Run } from './run.ts';
import type { Scenario } from './scenarios.ts';
import { playSchedule } from './schedule.ts';
import { pgliteStage } from './pglite-stage.ts';
import type { SimulationDatabase } from './session.ts';
import type { DatabaseKind, StageDatabase } from './stage.ts';

export interface SimulatorOptions {
  scenario: Scenario;
  integration: Integration;
  /** A PGlite instance that nothing else uses, or a server's (`sim/postgres`). Each integration's tables are apart. */
  database: SimulationDatabase | StageDatabase;
  /** How many faults one schedule may hold, all kinds together; the scenario's own number by default. */
  faults?: number;
  /** Says that the integration calls the global `fetch`, which is the simulation's while a schedule runs. */
  fetch?: 'global';
  /** Ends the process where the code loops without end; without one it would go on for ever. */
  loopWatch?: LoopWatch;
}

/** Runs one integration through one scenario, schedule after schedule. */
export interface Simulator {
  /** One schedule, drawn from a seed: a whole number from 0 to 4294967295. */
  run(choice: { seed: number }): Promise<Run>;
  /** One schedule by numbers, as property tests generate it. It holds as many faults as are picked, at most. */
  pick(picks: Picks): Promise<Run>;
  /**
   * The schedule of a token, which must be of this scenario and integration. With `lenient` it may be of
   * another integration, and steps that it takes and that are not there any more are passed over: so a test
   * that was made from a failure goes on running once the failure is mended.
   *
   * @throws {TokenError} for a token that can't be read.
   * @throws {ReplayError} when the token is of something else, or the code no longer takes its steps.
   */
  replay(token: string, options?: { lenient?: boolean }): Promise<Run>;
  /**
   * The schedule that takes these steps, by label, in this order; one that cannot be taken in its turn waits
   * until it can, and run-to-completion fills the rest. For trying a swap by hand.
   */
  order(
    labels: readonly string[],
    recipe: Pick<Recipe, 'faults' | 'rule' | 'without'>,
  ): Promise<Run>;
  /** A failing run, if it can be had again: else the same with the verdict `error`, and where replays part. */
  confirm(run: Run): Promise<Run>;
  /**
   * The smallest run that still violates the invariant (the first that the run violated, unless another is
   * named), and what races in it. Takes some dozens of schedules, and about `maxSchedules` (500) at the most: then
   * it is the smallest so far.
   *
   * @throws {NondeterminismError} if the run does not fail again.
   */
  shrink(
    run: Run,
    options?: { invariant?: InvariantName; maxSchedules?: number },
  ): Promise<Counterexample>;
  /** Every inequivalent order, for every set of faults up to a budget. */
  explore(options?: ExploreOptions): Promise<Exploration>;
  /**
   * Every schedule with at most so many departures from run-to-completion, of which up to `faults` may be
   * faults: for what has too many orders to be explored whole.
   */
  searchByDepartures(options: BoundedSearchOptions & { faults?: number }): Promise<BoundedSearch>;
}

/** A token that does not fit what it is replayed on. */
export class ReplayError extends Error {
  override readonly name = 'ReplayError';
  readonly code: 'replay_other' | 'replay_drift';

  constructor(code: 'replay_other' | 'replay_drift', message: string) {
    super(message);
    this.code = code;
  }
}

/** About how many steps an order takes until nothing is left of it. */
const STEPS_PER_ORDER = 14;

/** Prepares the integration's tables and gives what runs schedules on them. */
export async function createSimulator(options: SimulatorOptions): Promise<Simulator> {
  const { scenario, integration, database } = options;
  const faults = options.faults ?? scenario.budget;
  const stage = await exclusively(async () => {
    const endWatch = options.loopWatch?.begin(null);
    try {
      return 'stage' in database
        ? await database.stage(integration)
        : await pgliteStage(database, integration);
    } finally {
      endWatch?.();
    }
  });

  const play = (
    chooser: Chooser,
    seed: number | null,
    recipe: { faults: number; rule?: Rule; without?: readonly string[] },
    onObservations?: (observations: () => readonly Observation[]) => void,
  ): Promise<Run> =>
    exclusively(() =>
      playSchedule({
        scenario,
        integration,
        stage,
        chooser,
        seed,
        faults: recipe.faults,
        rule: recipe.rule ?? 2,
        without: recipe.without ?? [],
        globalFetch: options.fetch === 'global',
        onObservations: onObservations ?? null,
        loopWatch: options.loopWatch ?? null,
      }),
    );

  const follow = async (recipe: Recipe): Promise<{ run: Run; chooser: RecordedChooser }> => {
    const chooser = createRecordedChooser(recipe.deviations);
    return { run: await play(chooser, recipe.seed, recipe), chooser };
  };

  return {
    run: ({ seed }) =>
      play(
        createSeededChooser(createRandom(seed), {
          faults: scenario.faults satisfies readonly FaultName[],
          budget: faults,
          steps: STEPS_PER_ORDER * scenario.orders.length,
        }),
        seed,
        { faults },
      ),

    pick: (picks) => play(createPickingChooser(picks), null, { faults: picks.faults.length }),

    explore: (exploreOptions = {}) =>
      explore(
        (chooser, onObservations) =>
          play(chooser, null, { faults: exploreOptions.faults ?? 0 }, onObservations),
        exploreOptions,
      ),

    searchByDepartures: (searchOptions) =>
      searchByDepartures(
        (chooser, onObservations) =>
          play(chooser, null, { faults: searchOptions.faults ?? 0 }, onObservations),
        searchOptions,
      ),

    shrink: async (run, { invariant = run.violations[0]?.invariant, maxSchedules } = {}) => {
      if (invariant === undefined) throw new Error('A run without a violation cannot be shrunk.');
      // Loaded only when it is needed: it brings fast-check with it.
      const { shrink } = await import('./shrink.ts');
      return shrink(
        (chooser, recipe, onObservations) => play(chooser, null, recipe, onObservations),
        run,
        invariant,
        maxSchedules,
      );
    },

    order: (labels, recipe) => play(createOrderChooser(labels), null, recipe),

    confirm: (run) => confirm(run, async () => (await follow(decodeToken(run.token))).run),

    replay: async (token, { lenient = false } = {}) => {
      const recipe = decodeToken(token);
      if (!lenient) refuseOther(recipe, scenario, integration, stage.database);
      const { run, chooser } = await follow(recipe);
      if (!lenient) refuseDrift(run, chooser);
      return run;
    },
  };
}

/** @throws {ReplayError} if the run did not take every step that its recording asked for. */
function refuseDrift(run: Run, chooser: RecordedChooser): void {
  const [drift] = chooser.drifts;
  if (drift !== undefined) throw new ReplayError('replay_drift', describeDrift(drift));
  const [missed] = chooser.unreached();
  if (missed === undefined) return;
  throw new ReplayError(
    'replay_drift',
    `The token no longer fits: after the step "${missed.after}" it takes "${missed.take}", and no such step ` +
      `happened. The run went another way, and ended with "${run.steps.at(-1)?.label ?? 'nothing'}". The ` +
      'code has changed since, or does not do the same each time; search again with fuzz.',
  );
}

function refuseOther(
  recipe: Recipe,
  scenario: Scenario,
  integration: Integration,
  database: DatabaseKind,
): void {
  if (
    recipe.scenario === scenario.name &&
    recipe.integration === integration.name &&
    recipe.database === database
  )
    return;
  throw new ReplayError(
    'replay_other',
    `The token is of ${recipe.integration} in ${recipe.scenario} on ${recipe.database}, and this is ` +
      `${integration.name} in ${scenario.name} on ${database}. Replay it on what it was made of.`,
  );
}

function describeDrift({ step, after, wanted, taken }: Drift): string {
  const where = after === '' ? 'At the very beginning' : `After "${after}"`;
  return (
    `The token no longer fits. The first step that differs is step ${step}. ${where} the token takes ` +
    `"${wanted}", which cannot happen there now; what happens is "${taken}". The code has changed since, or does ` +
    'not do the same each time; search again with fuzz.'
  );
}

/**
 * The engine's traps are global, and a database has one connection: runs in one process take turns,
 * whichever simulator they belong to.
 */
function exclusively<T>(work: () => Promise<T>): Promise<T> {
  const result = turn.then(work);
  turn = result.then(
    () => undefined,
    () => undefined,
  );
  return result;
}
let turn: Promise<unknown> = Promise.resolve();
