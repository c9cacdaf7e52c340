import type { Database } from '../../src/database.ts';
import { runToCompletion } from '../../sim/engine/chooser.ts';
import { createEngine, type Engine } from '../../sim/engine/engine.ts';
import { countEquivalent, exploreOrders } from '../../sim/engine/exploration.ts';
import type { Step } from '../../sim/engine/trace.ts';
import { createExploringChooser } from '../../sim/world/exploring-chooser.ts';
import { guarded } from '../../sim/integrations/guarded.ts';
import type { OpenStage, Stage } from '../../sim/world/stage.ts';
import { applyChange, createRows, roleOf, type Rows } from '../../sim/world/rows.ts';

/** Calls that begin at the same moment, each on connections of its own, and nothing else in the world. */
export interface RaceOfCalls {
  /** What was done before they begin. */
  before?: (database: Database) => Promise<unknown>;
  calls: Readonly<Record<string, (database: Database) => Promise<unknown>>>;
}

/** One order of their statements, and what came of it. */
export interface OrderOfCalls {
  steps: readonly Step[];
  /** What each call gave, or the error that it threw. */
  outcomes: Readonly<Record<string, unknown>>;
  rows: Rows;
  /** Whether a job and an event parked for it were ever committed side by side. */
  wasStranded: boolean;
}

export interface ExploredCalls {
  complete: boolean;
  schedules: number;
  orders: number | null;
}

/** Runs every inequivalent order of the calls' statements, from empty tables each. Every parameter `job_…` is a job. */
export async function exploreCalls(
  stage: Stage,
  race: RaceOfCalls,
  onOrder: (order: OrderOfCalls) => void,
  options: { prune?: boolean; maxSchedules?: number } = {},
): Promise<ExploredCalls> {
  const { prune = true, maxSchedules = Infinity } = options;
  let schedules = 0;
  let orders: number | null = 0;
  const complete = await exploreOrders<OrderOfCalls>({
    prune,
    execute: async (prefix, sleeping) => {
      const playing = await open(stage);
      const { engine } = playing;
      try {
        await playing.before(race.before);
        const first = engine.steps.length;
        const observations = (): Engine['observations'] =>
          engine.observations
            .slice(first)
            .map(({ footprint, cause }) => ({ footprint, cause: Math.max(-1, cause - first) }));
        const chooser = createExploringChooser({
          prefix,
          sleeping,
          faults: new Set(),
          observations,
        });
        const order = await playing.race(race.calls, chooser);
        return {
          events: chooser.events(observations()),
          redundant: chooser.isRedundant,
          outcome: order,
        };
      } finally {
        engine.dispose();
        await playing.stage.close();
      }
    },
    onSchedule: ({ events, outcome }) => {
      schedules += 1;
      const equivalent = prune ? countEquivalent(events) : 1;
      orders = orders === null || equivalent === null ? null : orders + equivalent;
      onOrder(outcome);
      return schedules < maxSchedules;
    },
  });
  return { complete, schedules, orders };
}

interface Playing {
  engine: Engine;
  stage: OpenStage;
  before(work: RaceOfCalls['before']): Promise<void>;
  race(
    calls: RaceOfCalls['calls'],
    chooser: ReturnType<typeof createExploringChooser>,
  ): Promise<OrderOfCalls>;
}

async function open(stage: Stage): Promise<Playing> {
  const rows = createRows();
  let wasStranded = false;
  const engine: Engine = createEngine({
    faults: new Set(),
    faultBudget: 0,
    maxSteps: 1_000,
    trapFetch: true,
    rule: 2,
    afterStep: async () => {
      const changes = await opened.takeChanges();
      for (const change of changes) {
        engine.touch(`row:${change.key}`, 'write');
        const role = roleOf(change, guarded.tables);
        if (role !== null) applyChange(rows, role, change);
      }
      if ([...rows.parked.keys()].some((jobId) => rows.jobs.has(jobId))) wasStranded = true;
      return changes;
    },
  });
  const opened = await stage.open({
    engine,
    isJob: (value) => typeof value === 'string' && value.startsWith('job_'),
    jobs: () => [],
  });
  const spawn = (name: string, work: (database: Database) => Promise<unknown>): void => {
    const process = { name, life: 1 };
    engine.spawn({ name, actor: name, process }, () => work(opened.port));
  };
  return {
    engine,
    stage: opened,
    before: async (work) => {
      if (work === undefined) return;
      spawn('before', work);
      await engine.run(runToCompletion);
    },
    race: async (calls, chooser) => {
      const outcomes: Record<string, unknown> = {};
      const from = engine.steps.length;
      for (const [name, call] of Object.entries(calls)) {
        spawn(name, async (database) => {
          outcomes[name] = await call(database).catch((error: unknown) => error);
        });
      }
      if ((await engine.run(chooser)) !== 'ended') engine.refuseBlocked();
      return { steps: engine.steps.slice(from), outcomes, rows, wasStranded };
    },
  };
}
