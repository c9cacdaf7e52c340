import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const root = fileURLToPath(new URL('../../..', import.meta.url));

/** The package's exports as this repository's sources, which need no build. */
export function withSources(program: string): string {
  const sources: Record<string, string> = {
    'sume-sim': 'sim/index.ts',
    'sume-sim/reconciler': 'src/index.ts',
    'sume-sim/testing': 'sim/testing/index.ts',
    'sume-sim/fake-sume': 'sim/fake-sume/index.ts',
    '@electric-sql/pglite': 'test/unit/readme/pglite-from-template.ts',
  };
  return program.replaceAll(/(from ')([^']+)(')/g, (whole, before, name: string, after) => {
    const source = sources[name];
    return source === undefined
      ? whole
      : `${before}${pathToFileURL(join(root, source)).href}${after}`;
  });
}
