import type { SimulationDatabase } from '../world/session.ts';

/** Gives `work` the database, or a PGlite of its own, which is closed whatever happens: open it keeps Node alive. */
export async function withDatabase<T>(
  given: SimulationDatabase | undefined,
  work: (database: SimulationDatabase) => Promise<T>,
): Promise<T> {
  if (given !== undefined) return work(given);
  const { PGlite } = await import('@electric-sql/pglite');
  const database = await PGlite.create();
  try {
    return await work(database);
  } finally {
    await database.close();
  }
}
