import { PGlite } from '@electric-sql/pglite';
import { systemClock } from '../../src/clock.ts';
import { integrations } from '../../sim/integrations/index.ts';
import type { Integration } from '../../sim/world/integration.ts';
import type { InvariantName, Run } from '../../sim/world/run.ts';
import { scenarios } from '../../sim/world/scenarios.ts';
import {
  createSimulator,
  type Simulator,
  type SimulatorOptions,
} from '../../sim/world/simulator.ts';
import { openPostgresServer } from '../../sim/postgres/postgres-server.ts';
import type { Figure } from './figure.ts';

/** Searches of each integration. Their seeds are so far apart that no two run the same schedule. */
const SEARCHES = 20;
const SEEDS_APART = 1_000_000;
/** A search that has found nothing by then counts as so many. */
const MOST_SCHEDULES = 1_000;
/** Of the first searches the counterexample is shrunk too. */
const SHRUNK = 3;

/** What the searches for one integration's mistake gave. */
interface Hunt {
  schedules: number[];
  seconds: number;
  steps: number[];
  deviations: number[];
}

/**
 * How soon random search finds each shipped mistake in `everything`, by the invariant named for it, and how small
 * its counterexamples get. The mistakes that need several connections are looked for on the server.
 */
export async function benchBugs(serverUrl: string): Promise<Record<string, Figure>> {
  const figures: Record<string, Figure> = {};
  const pglite = await PGlite.create();
  const server = await openPostgresServer(serverUrl);
  const steps: number[] = [];
  const deviations: number[] = [];
  try {
    for (const integration of integrations) {
      if (integration.caughtBy === undefined) continue;
      const onServer = integration.needs === 'postgres';
      const found = await hunt(integration, integration.caughtBy, onServer ? server : pglite);
      if (!onServer) {
        steps.push(median(found.steps));
        deviations.push(median(found.deviations));
      }
      const inputs = {
        database: onServer ? 'postgres' : 'pglite',
        searches: SEARCHES,
        seconds: Math.round(found.seconds * 10) / 10,
        shrunkSteps: median(found.steps),
        shrunkDeviations: median(found.deviations),
      };
      figures[`${integration.name}, median`] = {
        value: median(found.schedules),
        unit: 'schedules',
        goal: { atMost: 20 },
        inputs,
      };
      figures[`${integration.name}, worst`] = {
        value: Math.max(...found.schedules),
        unit: 'schedules',
        goal: { atMost: 500 },
        inputs,
      };
    }
  } finally {
    await server.close();
    await pglite.close();
  }
  const inputs = { integrations: steps.length, shrunkOfEach: SHRUNK };
  figures['steps of a counterexample, median'] = {
    value: median(steps),
    unit: 'steps',
    goal: { atMost: 8 },
    inputs,
  };
  figures['departures of a counterexample, median'] = {
    value: median(deviations),
    unit: 'deviations',
    goal: { atMost: 2 },
    inputs,
  };
  return figures;
}

async function hunt(
  integration: Integration,
  named: readonly InvariantName[],
  database: SimulatorOptions['database'],
): Promise<Hunt> {
  const scenario = scenarios.find(({ name }) => name === 'everything');
  if (scenario === undefined) throw new Error('The scenario "everything" is gone.');
  const simulator = await createSimulator({ scenario, integration, database });
  const found: Hunt = { schedules: [], seconds: 0, steps: [], deviations: [] };
  for (let search = 0; search < SEARCHES; search += 1) {
    const began = systemClock.now();
    const { run, schedules } = await firstViolation(simulator, named, search * SEEDS_APART);
    found.seconds += (systemClock.now() - began) / 1_000;
    found.schedules.push(schedules);
    const invariant = run.violations.find((one) => named.includes(one.invariant))?.invariant;
    if (invariant === undefined || search >= SHRUNK) continue;
    const smallest = await simulator.shrink(run, { invariant });
    found.steps.push(smallest.steps.length);
    found.deviations.push(smallest.deviations.length);
  }
  return found;
}

async function firstViolation(
  simulator: Simulator,
  named: readonly InvariantName[],
  seed: number,
): Promise<{ run: Run; schedules: number }> {
  for (let schedules = 1; ; schedules += 1) {
    const run = await simulator.run({ seed: seed + schedules });
    const shows = run.violations.some(({ invariant }) => named.includes(invariant));
    if (shows || schedules === MOST_SCHEDULES) return { run, schedules };
  }
}

function median(values: readonly number[]): number {
  return values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)] ?? Number.NaN;
}
