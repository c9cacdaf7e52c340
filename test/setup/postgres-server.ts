import { readFileSync } from 'node:fs';
import { Client } from 'pg';
import type { TestProject } from 'vitest/node';
import { isCi } from './ci.ts';
import { startEmbeddedServer } from '../../sim/postgres/embedded-server.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** A connection string for a PostgreSQL server; null when this run has none. */
    databaseUrl: string | null;
    /** Why `databaseUrl` is null. `unneeded`: no selected test file names PostgreSQL. */
    databaseMissing: 'unneeded' | 'unavailable' | null;
  }
}

/**
 * One PostgreSQL server for the whole run: the one that SUME_SIM_DATABASE_URL names, or a private one.
 * Where none can be had, the suites that need it are skipped with one line that says so; under CI that is
 * a failure instead, since a green run there must have tested everything.
 */
export async function setup(project: TestProject): Promise<(() => Promise<void>) | undefined> {
  const given = process.env['SUME_SIM_DATABASE_URL'];
  if (given !== undefined && given !== '') {
    await mustAnswer(given);
    project.provide('databaseUrl', given);
    project.provide('databaseMissing', null);
    return undefined;
  }
  project.provide('databaseUrl', null);
  if (!(await isNeeded(project))) {
    project.provide('databaseMissing', 'unneeded');
    return undefined;
  }
  try {
    const server = await startEmbeddedServer();
    project.provide('databaseUrl', server.url);
    project.provide('databaseMissing', null);
    return server.stop;
  } catch (error) {
    if (isCi()) throw error;
    const reason = error instanceof Error ? error.message : String(error);
    project.provide('databaseMissing', 'unavailable');
    console.warn(
      `Skipping every test on PostgreSQL (${reason}). Set SUME_SIM_DATABASE_URL to use a server of yours.`,
    );
    return undefined;
  }
}

/** Somebody asked for this very server, so doing without it would be the wrong answer everywhere. */
async function mustAnswer(url: string): Promise<void> {
  const client = new Client({ connectionString: url, connectionTimeoutMillis: 10_000 });
  try {
    await client.connect();
    await client.query('select 1');
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new Error(
      `The server that SUME_SIM_DATABASE_URL names does not answer: ${reason}. ` +
        'Correct it, or unset it to have one started.',
      { cause },
    );
  } finally {
    await client.end().catch(() => undefined); // it may never have connected
  }
}

/** A run of a few files that never name PostgreSQL is not made to wait for a server. */
async function isNeeded(project: TestProject): Promise<boolean> {
  if (isCi()) return true;
  // What was given on the command line. Vitest keeps it without declaring it; without it, all files run.
  const { filenamePattern } = project.vitest as unknown as { filenamePattern?: string[] };
  const { testFiles } = await project.globTestFiles(filenamePattern);
  return testFiles.some((file) => /postgres/i.test(file + readFileSync(file, 'utf8')));
}
