import {
  createRecordedChooser,
  runToCompletion,
  type Chooser,
  type Drift,
} from '../engine/chooser.ts';
import type { Observation } from '../engine/engine.ts';
import { createRandom } from '../engine/random.ts';
import { createSeededChooser } from '../engine/seeded-chooser.ts';
import { decodeToken, type Recipe } from '../engine/token.ts';
import { explore, type Exploration, type ExploreOptions } from './explore.ts';
import type { FaultName } from './faults.ts';
import type { Integration } from './integration.ts';
import type { Run } from './run.ts';
import type { Scenario } from './scenarios.ts';
import { playSchedule, type Interceptor } from './schedule.ts';
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
  /** Routes the global `fetch` into the simulation, for code that does not take a `fetch`. */
  interceptor?: Interceptor;
}

/** Runs one integration through one scenario, schedule after schedule. */
export interface Simulator {
  /** One schedule, drawn from a seed: a whole number from 0 to 4294967295. */
  run(choice: { seed: number }): Promise<Run>;
  /**
   * The schedule of a token, which must be of this scenario and integration.
   *
   * @throws {TokenError} for a token that can't be read.
   * @throws {ReplayError} when the token is of something else, or the code no longer takes its steps.
   */
  replay(token: string): Promise<Run>;
  /** Every inequivalent order, for every set of faults up to a budget. */
  explore(options?: ExploreOptions): Promise<Exploration>;
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

/** Prepares the integration's tables and gives what runs schedules on them. */
export async function createSimulator(options: SimulatorOptions): Promise<Simulator> {
  const { scenario, integration, database, interceptor } = options;
  const faults = options.faults ?? scenario.budget;
  const stage = await exclusively(() =>
    'stage' in database ? database.stage(integration) : pgliteStage(database, integration),
  );

  const play = (
    chooser: Chooser,
    seed: number | null,
    budget: number,
    onObservations?: (observations: () => readonly Observation[]) => void,
  ): Promise<Run> =>
    exclusively(() =>
      playSchedule({
        scenario,
        integration,
        stage,
        chooser,
        seed,
        faults: budget,
        interceptor: interceptor ?? null,
        onObservations: onObservations ?? null,
      }),
    );

  return {
    run: ({ seed }) =>
      play(
        createSeededChooser(createRandom(seed), {
          faults: scenario.faults satisfies readonly FaultName[],
          budget: faults,
        }),
        seed,
        faults,
      ),

    explore: (exploreOptions = {}) =>
      explore(
        (chooser, onObservations) =>
          play(chooser, null, exploreOptions.faults ?? 0, onObservations),
        exploreOptions,
      ),

    replay: async (token) => {
      const recipe = decodeToken(token);
      refuseOther(recipe, scenario, integration, stage.database);
      const chooser =
        recipe.deviations.length === 0 ? null : createRecordedChooser(recipe.deviations);
      const run = await play(chooser ?? runToCompletion, recipe.seed, recipe.faults);
      if (chooser !== null) {
        const [drift] = chooser.drifts;
        const [unreached] = chooser.unreached();
        if (drift !== undefined) throw new ReplayError('replay_drift', describeDrift(drift));
        if (unreached !== undefined) {
          throw new ReplayError(
            'replay_drift',
            `The token no longer fits: its step "${unreached.take}" comes after "${unreached.after}", ` +
              'and no such step happened. The code has changed since; search again with fuzz.',
          );
        }
      }
      return run;
    },
  };
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

function describeDrift({ after, wanted, taken }: Drift): string {
  const where = after === '' ? 'At the very beginning' : `After "${after}"`;
  return (
    `The token no longer fits. ${where} it takes "${wanted}", which cannot happen there now; what would ` +
    `happen is "${taken}". The code has changed since; search again with fuzz.`
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
