import { faults, integrations, invariants, scenarios, type WatchedTables } from '../../index.ts';

/** What there is to choose from, for a page that does not load the simulator. */
export interface Catalogue {
  scenarios: (Entry & { budget: number; faults: readonly string[] })[];
  integrations: (Entry & { tables: WatchedTables })[];
  invariants: { name: string; text: string }[];
  faults: { name: string; text: string }[];
}

/** What can be picked. */
export interface Entry {
  name: string;
  text: string;
  /** Only a PostgreSQL server, with several connections, shows it: the lab's database has one. */
  needsServer: boolean;
}

export function makeCatalogue(): Catalogue {
  return {
    scenarios: scenarios.map(({ name, text, needs, budget, faults: possible }) => ({
      name,
      text,
      needsServer: needs === 'postgres',
      budget,
      faults: possible,
    })),
    integrations: integrations.map(({ name, text, needs, tables }) => ({
      name,
      text,
      needsServer: needs === 'postgres',
      tables,
    })),
    invariants: invariants.map(({ name, text }) => ({ name, text })),
    faults: faults.map(({ name, text }) => ({ name, text })),
  };
}
