import { runToCompletion, type Chooser, type Rule } from '../engine/chooser.ts';
import { createEngine, type Engine, type Observation } from '../engine/engine.ts';
import { BlockedTaskError, UncontrolledAwaitError } from '../engine/errors.ts';
import type { Task } from '../engine/task.ts';
import { encodeToken } from '../engine/token.ts';
import type { Step } from '../engine/trace.ts';
import type { FakeSume } from '../fake-sume/index.ts';
import { createChecker, type Checker, type TrueJob } from './checker.ts';
import { createEvidence, dependOnSaid } from './evidence.ts';
import type { Integration } from './integration.ts';
import { NondeterminismError } from './nondeterminism-error.ts';
import { describeLoop, type EndlessLoop, type LoopWatch } from './loop-watch.ts';
import { LANES } from './processes.ts';
import { replaceGlobalFetch } from './replace-global-fetch.ts';
import type { Run, Violation } from './run.ts';
import type { Scenario } from './scenarios.ts';
import type { OpenStage, Stage } from './stage.ts';
import { createWorld, MAX_SKEW_MS, PATIENCE, type World } from './world.ts';

/** A phase that is not over by then never comes to rest. */
const MAX_STEPS = 2_000;
/** How often an unfinished submit is called again once faults have stopped. */
const MAX_RESUBMITS = 3;
/** Sweeps once faults have stopped: the first should do; the rest are for those that need to look twice. */
const MAX_LATE_SWEEPS = 3;

/** Plays one schedule from empty tables to the verdict. */
export async function playSchedule(options: {
  scenario: Scenario;
  integration: Integration;
  stage: Stage;
  chooser: Chooser;
  seed: number | null;
  faults: number;
  rule: Rule;
  /** What takes no part: see `Recipe`. */
  without: readonly string[];
  /** Whether the integration calls the global `fetch`. */
  globalFetch: boolean;
  /** Gets what an exhaustive search has to know of each step. */
  onObservations: ((observations: () => readonly Observation[]) => void) | null;
  loopWatch: LoopWatch | null;
}): Promise<Run> {
  const { scenario, integration, stage, chooser, globalFetch } = options;
  const { tables } = integration;
  const evidence = createEvidence((resource, how) => engine.touch(resource, how));
  const checker = createChecker(tables, evidence, integration.untold);
  const failed = new Set<Task>();
  const engine: Engine = createEngine({
    faults: new Set(scenario.faults),
    faultBudget: options.faults,
    maxSteps: MAX_STEPS,
    trapFetch: !globalFetch,
    rule: options.rule,
    sharesMemory: integration.memory === 'shared',
    afterStep: async (step, pending) => {
      const changes = await open.takeChanges();
      for (const { key, after } of changes) {
        engine.touch(`row:${key}`, 'write');
        // What is written is judged by what Sume has said.
        const status = after?.['status'];
        if (typeof status === 'string') dependOnSaid(evidence, pending.task, key, status);
      }
      for (const task of engine.tasks) {
        if (task.state !== 'threw' || failed.has(task)) continue;
        failed.add(task);
        step.text += `; ${task.name} throws ${nameError(task.error)}`;
      }
      checker.afterStep(step, pending.task, changes);
      return changes;
    },
  });
  options.onObservations?.(() => engine.observations);
  const open: OpenStage = await stage
    .open({
      engine,
      isJob: (value) => typeof value === 'string' && evidence.issued.has(value),
      jobs: () => evidence.issued.keys(),
    })
    .catch((thrown: unknown) => {
      // The engine's traps are global: they go with it.
      engine.dispose();
      throw thrown;
    });

  const runOf = (
    steps: readonly Step[],
    violations: readonly Violation[],
    end: Pick<Run, 'error' | 'loop'>,
  ): Run => ({
    scenario: scenario.name,
    integration: integration.name,
    database: stage.database,
    seed: options.seed,
    verdict: end.error !== undefined ? 'error' : violations.length > 0 ? 'fail' : 'pass',
    violations: [...violations],
    ...end,
    actors: LANES.filter((lane) => steps.some(({ actor, to }) => actor === lane || to === lane)),
    steps: [...steps],
    token: encodeToken({
      scenario: scenario.name,
      integration: integration.name,
      database: stage.database,
      seed: options.seed,
      faults: options.faults,
      deviations: [...engine.deviations],
      rule: options.rule,
      without: [...options.without],
    }),
  });
  const soFar = (loop: EndlessLoop): Run => {
    const { steps, underWay, busy } = engine;
    const taken = underWay === null ? steps : [...steps, underWay];
    const who = busy === null ? 'The code' : `The task ${busy.name}`;
    const violation = {
      invariant: 'converges',
      message: describeLoop(who, loop),
      step: taken.length,
    } as const;
    return runOf(taken, [...checker.violations, violation], {
      loop: { task: busy?.name ?? null, where: loop.where },
    });
  };

  let restoreFetch = (): void => {};
  let sume: FakeSume | null = null;
  let error: Run['error'];
  const endWatch = options.loopWatch?.begin(soFar);
  try {
    const world = createWorld({
      engine,
      scenario,
      integration,
      stage: open,
      without: new Set(options.without),
      evidence,
      onFetch: (sumeFetch) => {
        if (globalFetch) restoreFetch = replaceGlobalFetch(sumeFetch);
      },
    });
    sume = world.sume;
    await playPhases(engine, world, checker, chooser);
  } catch (thrown) {
    // These say that the integration can't be judged; anything else is a fault of the simulator itself.
    if (!(
      thrown instanceof UncontrolledAwaitError ||
      thrown instanceof BlockedTaskError ||
      thrown instanceof NondeterminismError
    ))
      throw thrown;
    error = { code: thrown.code, message: thrown.message };
  } finally {
    endWatch?.();
    engine.dispose();
    restoreFetch();
    await sume?.dispose();
    await open.close();
  }
  return runOf(engine.steps, checker.violations, error === undefined ? {} : { error });
}

/** Safety: anything may happen, within the budget. Liveness: faults have stopped, and all must converge. */
async function playPhases(
  engine: Engine,
  world: World,
  checker: Checker,
  chooser: Chooser,
): Promise<void> {
  // A schedule that its chooser ended is covered by another: it is not judged.
  if ((await engine.run(chooser)) === 'ended') return;
  engine.refuseBlocked();

  engine.phase = 'liveness';
  let rest = await engine.run(runToCompletion);
  const unfinished = (): World['submits'] =>
    world.submits.filter(({ plan, returned }) => !returned && plan.abandoned !== true);
  for (let round = 0; round < MAX_RESUBMITS && unfinished().length > 0; round += 1) {
    for (const submit of unfinished()) world.submit(submit);
    rest = await engine.run(runToCompletion);
  }
  // Beyond every row's patience, on the slowest clock, whichever clock wrote the row.
  const beyondMs = PATIENCE.staleAfterMs + PATIENCE.recheckMs + 2 * MAX_SKEW_MS + 1;
  for (let round = 1; round <= MAX_LATE_SWEEPS; round += 1) {
    world.sweep(`sweep/late/${round}`, round === 1 ? beyondMs : PATIENCE.recheckMs + 1);
    rest = await engine.run(runToCompletion);
    if (checker.hasConverged(truthOf(world.sume))) break;
  }
  engine.refuseBlocked();
  checker.atTheEnd({
    lastStep: engine.steps.length,
    truth: truthOf(world.sume),
    submits: world.submits.map(({ plan, returned }) => ({
      key: plan.key,
      returned,
      abandoned: plan.abandoned === true,
    })),
    cameToRest: rest === 'idle',
  });
}

function truthOf(sume: FakeSume): TrueJob[] {
  return [...sume.control.truth().values()].map(({ jobId, status, result }) => ({
    id: jobId,
    status,
    result,
  }));
}

function nameError(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { code } = error as { code?: unknown };
  return `${error.name}${typeof code === 'string' ? ` (${code})` : ''}: ${error.message}`;
}
