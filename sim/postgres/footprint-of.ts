import type { Engine } from '../engine/engine.ts';
import { isRead } from '../world/statement.ts';
import type { DefaultIsolation } from './server-session.ts';

/**
 * What the statements of one transaction touch, for the search that covers every order. Three kinds of resource:
 * `data:X` is the committed state of a job's rows, `lock:T/X` who holds locks on its rows in a table, and `ssi:X`
 * the traffic that the serializable level watches. A statement that names no job touches those of all.
 */
export interface FootprintOf {
  /** Told of every statement before it runs. */
  statement(sql: string, params: readonly unknown[]): TouchedBy;
  /** The end of the transaction: its locks go, and with a commit the rows of these jobs are seen. */
  end(committed: readonly string[]): void;
}

export interface TouchedBy {
  /** False for one that only reads: it waits for nobody, and nobody for it. */
  readonly mayLock: boolean;
  /** What it looks at, whatever comes of it. Also when it was let on after a wait. */
  looks(): void;
  /** It holds, or waits for, a lock on what it names. */
  locks(): void;
}

export function createFootprintOf(options: {
  engine: Pick<Engine, 'touch'>;
  isJob: (value: unknown) => boolean;
  level: () => DefaultIsolation;
  /** Whether a statement may lock rows of tables that it does not name: by foreign keys, triggers or rules. */
  tablesAreLinked: boolean;
}): FootprintOf {
  const { engine, isJob, level } = options;
  const locked = new Set<string>();
  /** Jobs that it has looked at, at the serializable level. */
  const watched = new Set<string>();
  let hasSnapshot = false;

  return {
    statement: (sql, params) => {
      const jobs = jobsNamed(params, isJob);
      const isAdvisory = ADVISORY.test(sql);
      const mayLock = isAdvisory || !isRead(sql);
      const tables = isAdvisory ? ['advisory'] : tablesNamed(sql);
      const isFirst = !hasSnapshot && !UTILITY.test(sql);
      if (isFirst) hasSnapshot = true;
      return {
        mayLock,
        looks: () => {
          const isSerializable = level() === 'serializable';
          // Above read committed the first look is the only one, and it is at everything.
          if (isFirst && level() !== 'read committed') {
            engine.touch('data:*', 'read');
            if (isSerializable) engine.touch('ssi:*', 'read');
          }
          if (tablesNamed(sql).length === 0) return;
          for (const job of jobs) {
            if (level() === 'read committed' || mayLock) engine.touch(`data:${job}`, 'read');
            if (!isSerializable) continue;
            watched.add(job);
            engine.touch(`ssi:${job}`, mayLock ? 'write' : 'read');
          }
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
        },
      };
    },

    end: (committed) => {
      for (const resource of locked) engine.touch(resource, 'write');
      for (const job of watched) engine.touch(`ssi:${job}`, 'write');
      for (const job of committed) engine.touch(`data:${job}`, 'write');
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
