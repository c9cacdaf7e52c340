import type { SimulationDatabase } from './connection.ts';
import type { Integration } from './integration.ts';

/** Each integration's tables have a schema to themselves, so that all can share one database. */
export function schemaOf({ name }: Integration): string {
  return `sim ${name}`;
}

export function quoteIdentifier(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

const selected = new WeakMap<SimulationDatabase, string>();

/** Makes unqualified names mean the tables in this schema. Does nothing if they do already. */
export async function selectSchema(database: SimulationDatabase, schema: string): Promise<void> {
  if (selected.get(database) === schema) return;
  await database.exec(`set search_path to ${quoteIdentifier(schema)}`);
  selected.set(database, schema);
}
