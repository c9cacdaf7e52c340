import { PGlite } from '@electric-sql/pglite';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { Queryable } from '../../src/database.ts';
import type { Integration, Scenario, Simulator } from '../../sim/index.ts';
import { systemClock } from '../../src/clock.ts';
import type { Figure } from './figure.ts';
import { publishedSim } from './published.ts';

const { createSimulator, integrations, scenarios } = publishedSim;

const WARM_UP = 200;
const BATCHES = 9;
const BATCH = 40;
const MEMORY_RUNS = 10_000;

/** Two jobs, one poll each: about thirty steps. */
const TWO_JOBS: Scenario = {
  name: 'two-jobs',
  text: 'Two jobs, a webhook and a poll each.',
  orders: [
    { key: 'a', end: 'completed' },
    { key: 'b', end: 'completed' },
  ],
  polls: 1,
  sweeps: 0,
  faults: [],
  budget: 0,
  race: () => true,
};

type Statement = { sql: string; params: unknown[] };

/**
 * What the simulator costs: against the same SQL statements replayed bare on the same PGlite, in schedules a
 * second, and in memory over many schedules.
 */
export async function benchSimulate(): Promise<Record<string, Figure>> {
  const database = await PGlite.create();
  try {
    const statements: Statement[] = [];
    const simulator = await createSimulator({
      scenario: TWO_JOBS,
      integration: recording(statements),
      database,
    });
    let steps = 0;
    for (let seed = 1; seed <= WARM_UP; seed += 1)
      steps = (await simulator.run({ seed })).steps.length;

    const ratios: number[] = [];
    const rates: number[] = [];
    let replayed = 0;
    for (let batch = 0; batch < BATCHES; batch += 1) {
      statements.length = 0;
      const first = 1_000 + batch * BATCH;
      const began = systemClock.now();
      for (let seed = first; seed < first + BATCH; seed += 1) {
        const run = await simulator.run({ seed });
        steps += run.steps.length;
        // The next schedule starts with empty tables.
        statements.push({ sql: 'delete from sume_jobs', params: [] });
        statements.push({ sql: 'delete from sume_parked', params: [] });
        statements.push({ sql: 'delete from effects', params: [] });
      }
      const simulatedMs = systemClock.now() - began;
      replayed = statements.length;
      await bareReplay(database, statements);
      const bareBegan = systemClock.now();
      await bareReplay(database, statements);
      const bareMs = systemClock.now() - bareBegan;
      ratios.push(simulatedMs / bareMs);
      rates.push((BATCH * 1_000) / simulatedMs);
    }
    return {
      'simulator time / bare statements': {
        value: median(ratios),
        unit: 'ratio',
        goal: { atMost: 1.5 },
        inputs: { batches: BATCHES, schedules: BATCH, statements: replayed },
      },
      'schedules a second': {
        value: median(rates),
        unit: 'per second',
        goal: { atLeast: 150 },
        inputs: { jobs: 2, stepsPerSchedule: Math.round(steps / (BATCHES * BATCH)) },
      },
      'memory growth': await memoryGrowth(database),
    };
  } finally {
    await database.close();
  }
}

/** Growth of the live heap over many schedules of everything, after as many to warm up as for the rest. */
async function memoryGrowth(database: PGlite): Promise<Figure> {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  const scenario = scenarios.find(({ name }) => name === 'early-webhook') ?? TWO_JOBS;
  const [integration] = integrations;
  if (integration === undefined) throw new Error('No integration is shipped.');
  const simulator: Simulator = await createSimulator({ scenario, integration, database });
  const liveBytes = async (from: number, count: number): Promise<number> => {
    for (let seed = from; seed < from + count; seed += 1) await simulator.run({ seed });
    collect();
    const { heapUsed, external } = process.memoryUsage();
    return heapUsed + external;
  };
  const before = await liveBytes(1, WARM_UP);
  const after = await liveBytes(WARM_UP + 1, MEMORY_RUNS);
  return {
    value: (after - before) / 1e6,
    unit: 'MB',
    goal: { atMost: 50 },
    inputs: { schedules: MEMORY_RUNS, scenario: scenario.name, liveBefore: before },
  };
}

/** The guarded core, whose statements are written down as they run. */
function recording(statements: Statement[]): Integration {
  const [guarded] = integrations;
  if (guarded === undefined) throw new Error('No integration is shipped.');
  const record = (on: Queryable): Queryable => ({
    query: (sql, params = []) => {
      statements.push({ sql, params });
      return on.query(sql, params);
    },
  });
  return {
    ...guarded,
    start: (ports) =>
      guarded.start({
        ...ports,
        database: {
          ...ports.database,
          ...record(ports.database),
          transaction: (work, options) =>
            ports.database.transaction(async (tx) => {
              statements.push({
                sql: `begin isolation level ${options?.isolation ?? 'read committed'}`,
                params: [],
              });
              const value = await work(record(tx));
              statements.push({ sql: 'commit', params: [] });
              return value;
            }, options),
        },
      }),
  };
}

/** The statements as `PGlite.query` runs them, one after the other. */
async function bareReplay(database: PGlite, statements: readonly Statement[]): Promise<void> {
  // Copies without the audit's triggers.
  await database.exec(
    `create schema if not exists bare; set search_path to bare;
     create table if not exists sume_jobs (like "sim guarded".sume_jobs including all);
     create table if not exists sume_parked (like "sim guarded".sume_parked including all);
     create table if not exists effects (like "sim guarded".effects including all);`,
  );
  for (const { sql, params } of statements) {
    if (/^(begin|commit)/.test(sql)) await database.exec(sql);
    else await database.query(sql, params);
  }
  await database.exec('set search_path to "sim guarded"');
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}
