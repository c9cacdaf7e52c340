import type { createSimulator, SimulatorOptions } from '../world/simulator.ts';
import { visible } from '../report/visible.ts';
import { SetupError } from '../world/setup-error.ts';
import type { Context } from './context.ts';
import type { DatabaseChoice } from './database-options.ts';
import { UsageError } from './usage-error.ts';

/**
 * Opens the database and loads the simulator at the same time, since either takes most of a second: the one
 * compiles on other threads while the other reads its modules. Nothing of both is loaded before.
 *
 * @param context of the system that is run: it knows the file of one's own.
 * @throws {UsageError} if the tables of one's own can't be made: nothing has been run then.
 */
export async function withSimulation<T>(
  context: Context,
  choice: DatabaseChoice,
  work: (database: SimulatorOptions['database'], create: typeof createSimulator) => Promise<T>,
): Promise<T> {
  const loading = import('../world/simulator.ts');
  try {
    return await context.withDatabase(choice, async (database) =>
      work(database, (await loading).createSimulator),
    );
  } catch (error) {
    if (!(error instanceof SetupError)) throw error;
    const { path = '' } = context.integrationFile ?? {};
    throw new UsageError(`"${visible(path)}" could not be used: ${visible(error.message)}`, {
      cause: error,
    });
  }
}
