import type { Change } from '../engine/trace.ts';
import { canonical } from './canonical.ts';
import type { DatabaseHandle, Readers } from './integration.ts';

/** A reader of the integration's own failed, or gave what no row can be. */
export class ReaderError extends Error {
  override readonly name = 'ReaderError';
  readonly code = 'reader_failed';
}

/** What the readers give, and what has changed in it since they were asked last. */
export interface RowReader {
  /** Reads everything about these jobs. */
  changes(jobs: Iterable<string>, database: DatabaseHandle): Promise<Change[]>;
}

type Row = Record<string, unknown>;

/** Begins with no rows at all. The tables that its changes name are `jobs`, `parked` and `effects`. */
export function createRowReader(readers: Readers): RowReader {
  const seen = { jobs: new Map<string, Row>(), parked: new Map<string, Row>() };
  const effects = new Map<string, number>();

  const rowChange = (table: 'jobs' | 'parked', jobId: string, after: Row | null): Change[] => {
    const before = seen[table].get(jobId) ?? null;
    if (canonical(before) === canonical(after)) return [];
    if (after === null) seen[table].delete(jobId);
    else seen[table].set(jobId, after);
    return [{ table, key: jobId, before, after }];
  };

  const effectChanges = (jobId: string, count: number): Change[] => {
    const before = effects.get(jobId) ?? 0;
    effects.set(jobId, count);
    const row = { job_id: jobId };
    const change: Change = { table: 'effects', key: jobId, before: null, after: row };
    const undone: Change = { table: 'effects', key: jobId, before: row, after: null };
    return Array.from({ length: Math.abs(count - before) }, () =>
      count > before ? change : undone,
    );
  };

  return {
    changes: async (jobs, database) => {
      const changes: Change[] = [];
      for (const jobId of jobs) {
        const row = await asked('readJob', jobId, () => readers.job(jobId, database));
        changes.push(...rowChange('jobs', jobId, rowOf('readJob', jobId, row)));
        const { parked, effects: countEffects } = readers;
        if (parked !== undefined) {
          const event = await asked('readParked', jobId, () => parked(jobId, database));
          changes.push(...rowChange('parked', jobId, rowOf('readParked', jobId, event)));
        }
        if (countEffects !== undefined) {
          const count = await asked('readEffects', jobId, () => countEffects(jobId, database));
          changes.push(...effectChanges(jobId, countOf(jobId, count)));
        }
      }
      return changes;
    },
  };
}

async function asked<T>(reader: string, jobId: string, read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new ReaderError(
      `${reader} failed for ${jobId}: ${reason}. It has to give what is committed at any moment, also while the ` +
        'job has no row yet.',
      { cause: error },
    );
  }
}

/** Rows are compared as JSON: a Date and its text are the same. */
function rowOf(reader: string, jobId: string, given: unknown): Row | null {
  // A query that finds nothing gives undefined more often than null.
  if (given === null || given === undefined) return null;
  const row: unknown = JSON.parse(JSON.stringify(given));
  if (typeof row === 'object' && row !== null && typeof (row as Row)['status'] === 'string') {
    return row as Row;
  }
  throw new ReaderError(
    `${reader} gave ${JSON.stringify(given)} for ${jobId}. It has to give null while there is no row, and else an ` +
      "object with the job's status in Sume's words (queued, processing, completed, failed, canceled, expired).",
  );
}

function countOf(jobId: string, given: unknown): number {
  // PostgreSQL counts in bigint, which drivers give as text.
  const count = typeof given === 'string' ? Number(given) : given;
  if (typeof count === 'number' && Number.isInteger(count) && count >= 0) return count;
  throw new ReaderError(
    `readEffects gave ${JSON.stringify(given)} for ${jobId}. It has to give how many times the job's end has taken ` +
      'effect, as a whole number.',
  );
}
