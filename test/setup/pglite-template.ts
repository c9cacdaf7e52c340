import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { PGlite } from '@electric-sql/pglite';
import type { TestProject } from 'vitest/node';

declare module 'vitest' {
  interface ProvidedContext {
    /** An uncompressed dump of an empty PGlite data directory. */
    pgliteTemplate: string;
  }
}

/**
 * Keeps an empty PGlite data directory under node_modules/.cache. Creating one from nothing takes seconds
 * (it runs initdb), from the dump about one, and every worker process needs its own.
 */
export async function setup(project: TestProject): Promise<void> {
  const cache = fileURLToPath(new URL('../../node_modules/.cache/sume-sim', import.meta.url));
  const file = join(cache, `pglite-${pgliteVersion()}.tar`);
  if (!existsSync(file)) {
    mkdirSync(cache, { recursive: true });
    const database = await PGlite.create();
    const dump = await database.dumpDataDir('none');
    await database.close();
    // Runs beside this one may do the same: the file appears whole or not at all.
    const draft = `${file}.${String(process.pid)}`;
    writeFileSync(draft, Buffer.from(await dump.arrayBuffer()));
    renameSync(draft, file);
  }
  project.provide('pgliteTemplate', file);
}

function pgliteVersion(): string {
  const entry = createRequire(import.meta.url).resolve('@electric-sql/pglite');
  const manifest = readFileSync(join(dirname(dirname(entry)), 'package.json'), 'utf8');
  return (JSON.parse(manifest) as { version: string }).version;
}
