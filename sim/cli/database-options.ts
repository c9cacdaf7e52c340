import type { Command } from 'commander';
import { visible } from '../report/visible.ts';
import type { Scenario } from '../world/scenarios.ts';
import type { DatabaseKind } from '../world/stage.ts';
import { didYouMean } from './did-you-mean.ts';
import { UsageError } from './usage-error.ts';

/** Options of the commands that play schedules. */
export interface DatabaseOptions {
  database?: DatabaseKind;
  databaseUrl?: string;
}

/** What schedules are played on; without a URL PostgreSQL is a server of the command's own. */
export type DatabaseChoice = { kind: 'pglite' } | { kind: 'postgres'; url: string | null };

const KINDS: readonly DatabaseKind[] = ['pglite', 'postgres'];

export function addDatabaseOptions(command: Command): Command {
  return command
    .option(
      '--database <kind>',
      'pglite, or postgres: a real server, statement by statement (default: pglite)',
      kindOf,
    )
    .option(
      '--database-url <url>',
      'a server of yours (else SUME_SIM_DATABASE_URL, else one is started and removed); the role needs CREATE in ' +
        'the database, and nothing but a new schema is touched',
      urlOf,
    );
}

/**
 * @param recorded the kind that a token names, which is then the only one.
 * @throws {UsageError} for options that contradict each other or the token.
 */
export function databaseChoice(options: DatabaseOptions, recorded?: DatabaseKind): DatabaseChoice {
  const { database, databaseUrl: url } = options;
  if (recorded !== undefined && database !== undefined && database !== recorded) {
    throw new UsageError(
      `the token is of the database "${recorded}", not "${database}"; leave --database out`,
    );
  }
  const kind = recorded ?? database ?? (url === undefined ? 'pglite' : 'postgres');
  if (kind === 'postgres') return { kind, url: url ?? null };
  if (url !== undefined) {
    throw new UsageError('--database-url names a PostgreSQL server, and this runs on pglite');
  }
  return { kind };
}

/** @throws {UsageError} for a race that this database can't have. */
export function refuseUnfit(scenario: Scenario, choice: DatabaseChoice): void {
  if (fits(scenario, choice)) return;
  throw new UsageError(
    `the scenario "${scenario.name}" is about transactions that are open at the same time, and PGlite has one ` +
      'connection; add --database postgres',
  );
}

export function fits({ needs }: Scenario, { kind }: DatabaseChoice): boolean {
  return needs === undefined || needs === kind;
}

function kindOf(text: string): DatabaseKind {
  const kind = KINDS.find((one) => one === text);
  if (kind !== undefined) return kind;
  const advice = didYouMean(text, KINDS);
  throw new UsageError(
    `--database takes pglite or postgres, and "${visible(text)}" is neither` +
      (advice === null ? '' : `; ${advice}`),
  );
}

function urlOf(text: string): string {
  // The text may hold a password: it is not repeated.
  if (/^postgres(ql)?:\/\/./.test(text)) return text;
  throw new UsageError(
    '--database-url takes a connection string like postgres://user:password@host:5432/database, and what was ' +
      'given does not begin with postgres://',
  );
}
