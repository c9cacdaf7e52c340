import type { WatchedTables } from './integration.ts';

/** Names of the tables whose every change the checker sees. */
export function watchedNames({ jobs, parked, effects }: WatchedTables): string[] {
  return [jobs, parked, effects].filter((table) => table !== null);
}

/** Names of all that starts empty: the watched tables, and those that only the integration looks at. */
export function allNames(tables: WatchedTables): string[] {
  return [...watchedNames(tables), ...(tables.others ?? [])];
}
