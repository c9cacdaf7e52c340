import type { Change, Run, WatchedTables } from '../../index.ts';

type Row = Record<string, unknown>;

/** One row of a table as it was after a step. */
export interface RowAt {
  key: string;
  /** Null for a row that this very step deleted. */
  row: Row | null;
  /** What the step found, if it changed the row: null for one that it inserted. */
  before?: Row | null | undefined;
}

export interface RowsAt {
  jobs: RowAt[];
  parked: RowAt[];
  /** How many effects each job has had, and how many of them are of this step. */
  effects: { key: string; count: number; now: number }[];
}

/** The watched tables after a step of a trace, with what this step changed. A step of 0 is before all. */
export function rowsAt(run: Run, tables: WatchedTables, step: number): RowsAt {
  const jobs = new Map<string, RowAt>();
  const parked = new Map<string, RowAt>();
  const effects = new Map<string, { key: string; count: number; now: number }>();
  for (const { index, changes } of run.steps) {
    if (index > step) break;
    const isNow = index === step;
    for (const change of changes) {
      if (change.table === tables.jobs) put(jobs, change, isNow);
      else if (change.table === tables.parked) put(parked, change, isNow);
      else if (change.table === tables.effects) {
        const known = effects.get(change.key) ?? { key: change.key, count: 0, now: 0 };
        const more = (change.after === null ? 0 : 1) - (change.before === null ? 0 : 1);
        known.count += more;
        if (isNow) known.now += more;
        effects.set(change.key, known);
      }
    }
  }
  return { jobs: [...jobs.values()], parked: [...parked.values()], effects: [...effects.values()] };
}

function put(rows: Map<string, RowAt>, { key, before, after }: Change, isNow: boolean): void {
  if (!isNow) {
    if (after === null) rows.delete(key);
    else rows.set(key, { key, row: after });
    return;
  }
  // Of several changes in one step the first says what was there before.
  const known = rows.get(key);
  const first = known?.before === undefined ? before : known.before;
  rows.set(key, { key, row: after, before: first });
}
