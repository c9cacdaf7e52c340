import {
  createSimulator,
  decodeToken,
  integrations,
  scenarios,
  type Integration,
  type Run,
  type Scenario,
  type Simulator,
} from '../../index.ts';
import { CageError, cagedIntegration, type Caged } from './caged-integration.ts';
import { openDatabase } from './open-database.ts';
import type { Answers, Ask, Failure, Progress, Refusal, Told, Wish } from './protocol.ts';
import { runQuery } from './run-query.ts';
import type { PGlite } from '@electric-sql/pglite';

let database: Promise<PGlite> | null = null;
let turn: Promise<unknown> = Promise.resolve();
const cancelling = new Map<number, AbortController>();
/** Pasted code that was checked, by the name that it got here: each has tables to itself. */
const pasted = new Map<string, Caged>();
let pastedSoFar = 0;
/** Schedules of pasted code before it is said that none fails. */
const MOST_CHECKED = 60;
/** What the tables hold: the token of the run that left them so. */
let onStage = '';

/** Answers one ask; a cancel at once, and anything else when those before it are done. */
export function answer(ask: Ask): void {
  if (ask.kind === 'cancel') {
    cancelling.get(ask.of)?.abort();
    tell({ id: ask.id, value: null });
    return;
  }
  const controller = new AbortController();
  cancelling.set(ask.id, controller);
  turn = turn.then(async () => {
    try {
      const progress = (made: Progress): void => tell({ id: ask.id, progress: made });
      tell({ id: ask.id, value: await perform(ask, progress, controller.signal) });
    } catch (error) {
      tell({ id: ask.id, error: describe(error) });
    } finally {
      cancelling.delete(ask.id);
    }
  });
}

function tell(told: Told): void {
  globalThis.postMessage(told);
}

type Answering = {
  [Kind in keyof Answers]: (
    wish: Extract<Wish, { kind: Kind }>,
    progress: (made: Progress) => void,
    signal: AbortSignal,
  ) => Promise<Answers[Kind]>;
};

function perform(
  wish: Wish,
  progress: (made: Progress) => void,
  signal: AbortSignal,
): Promise<Answers[keyof Answers]> {
  const how = answering[wish.kind] as (...asked: unknown[]) => Promise<Answers[keyof Answers]>;
  return how(wish, progress, signal);
}

const answering: Answering = {
  open: async (wish, progress) => {
    database = openDatabase(wish, progress);
    await database;
    return null;
  },

  run: async ({ choice }) => {
    const simulator = await simulatorOf(choice.scenario, choice.integration, choice.faults);
    return keep(await simulator.run({ seed: choice.seed }));
  },

  replay: async ({ token, instead }) => keep(await replay(token, instead)),

  order: async ({ token, labels }) => {
    const { scenario, integration, faults, without, rule } = decodeToken(token);
    const simulator = await simulatorOf(scenario, integration, faults);
    return keep(await simulator.order(labels, { faults, without, rule }));
  },

  shrink: async ({ token }) => {
    const { scenario, integration, faults } = decodeToken(token);
    const simulator = await simulatorOf(scenario, integration, faults);
    const smallest = await simulator.shrink(await simulator.replay(token));
    return keep(await simulator.replay(smallest.token));
  },

  explore: async ({ choice, maxSchedules }, progress, signal) => {
    const simulator = await simulatorOf(choice.scenario, choice.integration, choice.faults);
    onStage = '';
    let found: Failure[] = [];
    const { complete, schedules, orders, faultSets, failures } = await simulator.explore({
      faults: choice.faults,
      maxSchedules,
      signal,
      onSchedule: (run) => {
        if (run.verdict !== 'pass') found.push(failureOf(run));
      },
      onProgress: (made) => {
        progress({ of: 'explore', ...made, failures: found });
        found = [];
      },
    });
    pasted.get(choice.integration)?.assertAlive();
    return { complete, schedules, orders, faultSets, failures: failures.map(failureOf) };
  },

  check: async ({ choice, cage }) => {
    pastedSoFar += 1;
    const name = `mine-${pastedSoFar}`;
    const caged = await cagedIntegration(cage, name);
    pasted.set(name, caged);
    const simulator = await simulatorOf(choice.scenario, name, choice.faults);
    const { tables } = caged.integration;
    for (let schedules = 1; ; schedules += 1) {
      const run = keep(await simulator.run({ seed: choice.seed + schedules - 1 }));
      if (run.verdict !== 'pass' || schedules === MOST_CHECKED) return { run, tables, schedules };
    }
  },

  forget: async ({ integration }) => {
    pasted.delete(integration);
    return null;
  },

  query: async ({ token, sql }) => {
    if (onStage !== token) keep(await replay(token));
    return runQuery(await opened(), sql);
  },

  cancel: async () => null,
};

function keep(run: Run): Run {
  pasted.get(run.integration)?.assertAlive();
  onStage = run.token;
  return run;
}

async function replay(token: string, instead?: string): Promise<Run> {
  const { scenario, integration, faults } = decodeToken(token);
  const simulator = await simulatorOf(scenario, instead ?? integration, faults);
  return simulator.replay(token, { lenient: instead !== undefined && instead !== integration });
}

async function opened(): Promise<PGlite> {
  if (database === null) throw new Error('The database has not been opened.');
  return database;
}

async function simulatorOf(
  scenarioName: string,
  integrationName: string,
  faults: number,
): Promise<Simulator> {
  const scenario = named<Scenario>(scenarios, 'scenario', scenarioName);
  const all = [...integrations, ...[...pasted.values()].map((caged) => caged.integration)];
  const integration = named<Integration>(all, 'integration', integrationName);
  return createSimulator({ scenario, integration, database: await opened(), faults });
}

function named<T extends { name: string }>(all: readonly T[], kind: string, name: string): T {
  const found = all.find((one) => one.name === name);
  if (found !== undefined) return found;
  throw new Error(
    `There is no ${kind} "${name}" in this version of the lab. The link may be of another version, or of ` +
      'code that only its author has; ask for that, or pick a race here.',
  );
}

function failureOf(run: Run): Failure {
  const [violation] = run.violations;
  return {
    token: run.token,
    steps: run.steps.length,
    at: violation?.step ?? 0,
    text: violation?.message ?? run.error?.message ?? 'It could not be judged.',
  };
}

function describe(error: unknown): Refusal {
  if (!(error instanceof Error)) return { code: 'unexpected', message: String(error) };
  const { code } = error as { code?: unknown };
  return {
    code: typeof code === 'string' ? code : 'unexpected',
    message: error.message,
    ...(error instanceof CageError ? { cage: error.integration } : {}),
  };
}
