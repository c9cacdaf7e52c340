import { faults, integrations, invariants, scenarios, type WatchedTables } from '../../index.ts';

/** What there is to choose from, for a page that does not load the simulator. */
export interface Catalogue {
  scenarios: { name: string; text: string; budget: number; faults: readonly string[] }[];
  integrations: { name: string; text: string; tables: WatchedTables }[];
  invariants: { name: string; text: string }[];
  faults: { name: string; text: string }[];
}

export function makeCatalogue(): Catalogue {
  return {
    scenarios: scenarios.map(({ name, text, budget, faults: possible }) => ({
      name,
      text,
      budget,
      faults: possible,
    })),
    integrations: integrations.map(({ name, text, tables }) => ({ name, text, tables })),
    invariants: invariants.map(({ name, text }) => ({ name, text })),
    faults: faults.map(({ name, text }) => ({ name, text })),
  };
}
