import type { Engine } from '../engine/engine.ts';
import { isRead } from '../world/statement.ts';
import { ANY_TABLE, type SerializableTransaction } from './serializable-conflicts.ts';
import type { DefaultIsolation } from './server-session.ts';

/**
 * What the statements of one transaction touch, for the search that covers every order: `data:X` is the committed
 * state of a job's rows, `lock:T/X` who holds locks on its rows in a table. A statement that names no job touches those
 * of all. What the serializable level watches comes on top.
 */
export interface FootprintOf {
  /** Told of every statement before it runs. */
  statement(sql: string, params: readonly unknown[]): TouchedBy;
  /** The end of the transaction: its locks go, and the rows of these jobs are seen; null for a rollback. */
  end(committed: readonly string[] | null): void;
}

export interface TouchedBy {
  /** False for one that only reads: it waits for nobody, and nobody for it. */
  readonly mayLock: boolean;
  /** What it looks at, whatever comes of it. Also when it was let on after a wait. */
  looks(): void;
  /** It holds, or waits for, a lock on what it names, and has written that or may. */
  locks(): void;
}

export function createFootprintOf(options: {
  engine: Pick<Engine, 'touch'>;
  isJob: (value: unknown) => boolean;
  level: () => DefaultIsolation;
  /** Whether a statement may lock rows of tables that it does not name: by foreign keys, triggers or rules. */
  tablesAreLinked: boolean;
  /** False where there are tables that nobody watches: then its own statements say which jobs it may have written. */
  seesEveryWrite: boolean;
  serializable: SerializableTransaction;
}): FootprintOf {
  const { engine, isJob, level, serializable } = options;
  const locked = new Set<string>();
  /** Jobs that it may have written where nobody watches. */
  const unseen = new Set<string>();
  let hasSnapshot = false;

  return {
    statement: (sql, params) => {
      const jobs = jobsNamed(params, isJob);
      const isAdvisory = ADVISORY.test(sql);
      const mayLock = isAdvisory || !isRead(sql);
      const tables = isAdvisory ? ['advisory'] : tablesNamed(sql);
      const watched =
        options.tablesAreLinked && mayLock && !isAdvisory ? [ANY_TABLE] : tablesNamed(sql);
      const isFirst = !hasSnapshot && !UTILITY.test(sql);
      if (isFirst) hasSnapshot = true;
      return {
        mayLock,
        looks: () => {
          // Above read committed the first look is the only one, and it is at everything.
          if (isFirst && level() !== 'read committed') {
            engine.touch('data:*', 'read');
            if (level() === 'serializable') serializable.begins();
          }
          if (tablesNamed(sql).length === 0) return;
          for (const job of jobs) {
            if (level() === 'read committed' || mayLock) engine.touch(`data:${job}`, 'read');
          }
          for (const table of watched) serializable.touches(table, 'read');
        },
        locks: () => {
          if (!mayLock) return;
          const unknown = jobs.includes('*') || tables.length === 0 || options.tablesAreLinked;
          const resources = unknown
            ? ['lock:*']
            : tables.flatMap((table) => jobs.map((job) => `lock:${table}/${job}`));
          for (const resource of resources) {
            locked.add(resource);
            engine.touch(resource, 'write');
          }
          if (!options.seesEveryWrite && !isAdvisory) {
            for (const job of options.tablesAreLinked ? ['*'] : jobs) unseen.add(job);
          }
          for (const table of watched) serializable.touches(table, 'write');
        },
      };
    },

    end: (committed) => {
      for (const resource of locked) engine.touch(resource, 'write');
      serializable.ends(committed !== null);
      if (committed === null) return;
      for (const job of new Set([...committed, ...unseen])) engine.touch(`data:${job}`, 'write');
    },
  };
}

/** The jobs that a statement's parameters name; `*` where they name none, and it may mean any. */
export function jobsNamed(
  params: readonly unknown[],
  isJob: (value: unknown) => boolean,
): string[] {
  const named = params.flat().filter((value): value is string => isJob(value));
  return named.length === 0 ? ['*'] : named;
}

/** Whether a statement may have to wait for a row, and not just for an advisory lock. */
export function mayLockRows(sql: string): boolean {
  return !isRead(sql) && tablesNamed(sql).length > 0;
}

function tablesNamed(sql: string): string[] {
  return [...sql.matchAll(/\b(?:from|into|update|join|table)\s+(?:only\s+)?([\w."]+)/gi)]
    .map((match) => match[1] ?? '')
    .filter((name) => !/^(of|skip|nowait|set)$/i.test(name));
}

const ADVISORY = /\bpg_(try_)?advisory/i;

/** Statements that do not fix the transaction's snapshot. */
const UTILITY = /^\s*(set|show|reset|begin|start|savepoint|release|rollback)\b/i;
