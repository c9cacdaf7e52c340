import { readFileSync } from 'node:fs';
import { PGlite } from '@electric-sql/pglite';
import { describe, inject } from 'vitest';
import { openSchema, type OpenSchema, type SchemaOptions } from './postgres-schema.ts';

let shared: Promise<PGlite> | undefined;

/**
 * The PGlite of this worker process, started on first use and shared by all the files that run here. It
 * starts empty, and whoever uses it removes what they made; it is never closed.
 */
export function sharedPglite(): Promise<PGlite> {
  shared ??= PGlite.create({ loadDataDir: new Blob([readFileSync(inject('pgliteTemplate'))]) });
  return shared;
}

/** `describe` for what needs PostgreSQL: skipped where the run has no server (never so under CI). */
export const describePostgres: ReturnType<typeof describe.skipIf> = describe.skipIf(
  inject('databaseMissing') === 'unavailable',
);

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
