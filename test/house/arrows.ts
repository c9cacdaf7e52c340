/**
 * The house: which place may import which. A place is a folder or a file, the longest match counts, and each
 * may import itself. `types` may be imported with `import type` only.
 */
export interface Place {
  values: string[];
  types?: string[];
}

export const places: Record<string, Place> = {
  'src/': { values: [] },
  'sim/engine/': { values: [], types: ['src/clock.ts'] },
  // Its own ranks and its own signing code: an oracle that shares code with what it checks hides bugs.
  'sim/fake-sume/': { values: ['sim/engine/', 'src/clock.ts'] },
  'sim/world/': {
    values: ['sim/engine/', 'sim/fake-sume/'],
    types: ['src/database.ts', 'src/clock.ts'],
  },
  'sim/integrations/': { values: ['src/', 'sim/world/'] },
  'sim/postgres/': { values: ['sim/engine/', 'sim/world/'], types: ['src/database.ts'] },
  'sim/report/': { values: ['sim/engine/', 'sim/world/'] },
  'sim/testing/': { values: ['sim/world/', 'sim/fake-sume/', 'sim/engine/', 'sim/report/'] },
  'sim/index.ts': {
    values: [
      'sim/engine/',
      'sim/fake-sume/',
      'sim/world/',
      'sim/integrations/',
      'sim/report/',
      'sim/testing/',
    ],
  },
  'sim/cli/': { values: ['sim/', 'src/clock.ts'] },
  'sim/lab/': { values: ['sim/index.ts'] },
  'sim/lab/vite.config.ts': { values: ['sim/lab/'] },
  // Runs when the page is built, in Node.
  'sim/lab/shipped/plugin.ts': {
    values: ['sim/lab/shipped/', 'sim/index.ts', 'sim/world/small-pglite.ts'],
  },
};

/** Fit for a browser: no Node module anywhere in what these import, types aside. */
export const browserEntries: string[] = [
  'src/index.ts',
  'sim/index.ts',
  'sim/fake-sume/index.ts',
  'sim/testing/index.ts',
];

/** The one place that a file belongs to. */
export function placeOf(path: string): string | undefined {
  return Object.keys(places)
    .filter((place) => path.startsWith(place))
    .sort((left, right) => right.length - left.length)[0];
}
