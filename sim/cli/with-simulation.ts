import type { createSimulator, SimulatorOptions } from '../world/simulator.ts';
import type { Context } from './context.ts';
import type { DatabaseChoice } from './database-options.ts';

/**
 * Opens the database and loads the simulator at the same time, since either takes most of a second: the one
 * compiles on other threads while the other reads its modules. Nothing of both is loaded before.
 */
export async function withSimulation<T>(
  context: Context,
  choice: DatabaseChoice,
  work: (database: SimulatorOptions['database'], create: typeof createSimulator) => Promise<T>,
): Promise<T> {
  const loading = import('../world/simulator.ts');
  return context.withDatabase(choice, async (database) =>
    work(database, (await loading).createSimulator),
  );
}
