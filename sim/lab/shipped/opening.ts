import type { PGlite } from '@electric-sql/pglite';
import { createSimulator, integrations, scenarios, type Run } from '../../index.ts';

/** Seeds tried for the opening; far fewer are needed. */
const MOST_SEEDS = 1_000;

/**
 * The race that a first visit opens on: the stale poll that overwrites a finished job, made as small as it
 * gets, exactly as its token replays it.
 *
 * @throws if the race is not found: then the scenario no longer shows it, and the page has no opening.
 */
export async function makeOpening(database: PGlite): Promise<Run> {
  const scenario = scenarios.find(({ name }) => name === 'stale-poll');
  const integration = integrations.find(({ name }) => name === 'naive-update');
  if (scenario === undefined || integration === undefined) {
    throw new Error('The lab opens on naive-update in stale-poll, and one of them is gone.');
  }
  const simulator = await createSimulator({ scenario, integration, database });
  for (let seed = 1; seed <= MOST_SEEDS; seed += 1) {
    const run = await simulator.run({ seed });
    if (!run.violations.some(({ invariant }) => invariant === 'rank-never-drops')) continue;
    const { token } = await simulator.shrink(run, { invariant: 'rank-never-drops' });
    return simulator.replay(token);
  }
  throw new Error(`No seed up to ${MOST_SEEDS} shows the stale poll that the lab opens on.`);
}
