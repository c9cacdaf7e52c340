import type { Change } from '../engine/trace.ts';
import type { WatchedTables } from './integration.ts';

export type Row = Record<string, unknown>;

/** The watched tables as they are after the last committed step: the checker's own view. */
export interface Rows {
  jobs: Map<string, Row>;
  parked: Map<string, Row>;
  /** How many committed effects each job has. */
  effects: Map<string, number>;
}

export function createRows(): Rows {
  return { jobs: new Map(), parked: new Map(), effects: new Map() };
}

/** Which of the watched tables a change is in. */
export function roleOf(change: Change, tables: WatchedTables): keyof Rows | null {
  if (change.table === tables.jobs) return 'jobs';
  if (change.table === tables.parked) return 'parked';
  return change.table === tables.effects ? 'effects' : null;
}

export function applyChange(rows: Rows, role: keyof Rows, { key, before, after }: Change): void {
  if (role === 'effects') {
    const difference = (after === null ? 0 : 1) - (before === null ? 0 : 1);
    rows.effects.set(key, (rows.effects.get(key) ?? 0) + difference);
  } else if (after === null) {
    rows[role].delete(key);
  } else {
    rows[role].set(key, after);
  }
}
