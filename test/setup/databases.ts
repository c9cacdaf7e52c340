import { readFileSync } from 'node:fs';
import { PGlite } from '@electric-sql/pglite';
import { describe, inject, type TestContext } from 'vitest';
import { isCi } from './ci.ts';
import { startEmbeddedServer, type EmbeddedServer } from '../../sim/postgres/embedded-server.ts';
import { openSchema, type OpenSchema, type SchemaOptions } from './postgres-schema.ts';

let shared: Promise<PGlite> | undefined;

/**
 * The PGlite of this worker process, started on first use and shared by all the files that run here. It
 * starts empty, and whoever uses it removes what they made; it is never closed.
 */
export function sharedPglite(): Promise<PGlite> {
  shared ??= freshPglite();
  return shared;
}

/** A PGlite for one test alone, which may close it. */
export function freshPglite(): Promise<PGlite> {
  return PGlite.create({ loadDataDir: new Blob([readFileSync(inject('pgliteTemplate'))]) });
}

/** `describe` for what needs PostgreSQL: skipped where the run has no server (never so under CI). */
export const describePostgres: ReturnType<typeof describe.skipIf> = describe.skipIf(
  inject('databaseMissing') === 'unavailable',
);

/**
 * A server for one test alone, which may crash it. Where none can be started (the run may be on a server that
 * SUME_SIM_DATABASE_URL named) the test is skipped with the reason, and fails under CI.
 */
export async function privatePostgres(test: TestContext): Promise<EmbeddedServer> {
  try {
    return await startEmbeddedServer();
  } catch (error) {
    if (isCi()) throw error;
    return test.skip(error instanceof Error ? error.message : String(error));
  }
}

/** A pool on the PostgreSQL server of this run, bound to a new schema that nobody else uses. */
export function openPostgres(options: SchemaOptions = {}): Promise<OpenSchema> {
  const base = inject('databaseUrl');
  if (base === null) {
    throw new Error(
      `This run has no PostgreSQL server (${String(inject('databaseMissing'))}). A test file that needs ` +
        'one names postgres somewhere in its text, and uses describePostgres.',
    );
  }
  return openSchema(base, options);
}
