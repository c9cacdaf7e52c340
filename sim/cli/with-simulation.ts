import type { PGlite } from '@electric-sql/pglite';
import type { createSimulator } from '../world/simulator.ts';
import type { Context } from './context.ts';

/**
 * Opens the database and loads the simulator at the same time, since either takes most of a second: the one
 * compiles on other threads while the other reads its modules. Nothing of both is loaded before.
 */
export async function withSimulation<T>(
  context: Context,
  work: (database: PGlite, create: typeof createSimulator) => Promise<T>,
): Promise<T> {
  const loading = import('../world/simulator.ts');
  return context.withDatabase(async (database) => work(database, (await loading).createSimulator));
}
