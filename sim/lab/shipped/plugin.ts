import { createHash } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import type { Plugin } from 'vite';
import { createSimulator, integrations, scenarios } from '../../index.ts';
import { createSmallPglite, dumpSmallPglite } from '../../world/small-pglite.ts';
import { makeCatalogue } from './catalogue.ts';
import { makeOpening } from './opening.ts';

const MODULE = 'virtual:shipped';
// Not `.gz`: servers send that as a packed encoding of something else, and browsers unpack it on the way.
const DUMP = 'database.bin';

/**
 * Makes what ships with the page: the opening's trace, the names to choose from, and a data directory to start
 * PGlite from. The simulator makes them anew in every build, so that they are of the code that they ship with.
 */
export function shipped(): Plugin {
  let made: ReturnType<typeof make> | null = null;
  const once = (): ReturnType<typeof make> => (made ??= make());
  return {
    name: 'sume-sim-shipped',
    resolveId: (id) => (id === MODULE ? `\0${MODULE}` : null),
    load: async (id) => {
      if (id !== `\0${MODULE}`) return null;
      const { opening, catalogue, build } = await once();
      return Object.entries({ opening, catalogue, build, dump: DUMP })
        .map(([name, value]) => `export const ${name} = ${JSON.stringify(value)};`)
        .join('\n');
    },
    async generateBundle() {
      this.emitFile({ type: 'asset', fileName: DUMP, source: (await once()).dump });
    },
    configureServer: ({ middlewares }) => {
      // The first page asks for it soon.
      once().catch(() => {});
      middlewares.use(`/${DUMP}`, (_request, response, next) => {
        once().then(({ dump }) => response.end(dump), next);
      });
    },
  };
}

async function make(): Promise<{
  opening: Awaited<ReturnType<typeof makeOpening>>;
  catalogue: ReturnType<typeof makeCatalogue>;
  dump: Uint8Array;
  build: string;
}> {
  const database = await createSmallPglite();
  try {
    const opening = await makeOpening(database);
    const [scenario] = scenarios;
    if (scenario === undefined) throw new Error('There is no scenario.');
    // Makes each one's tables.
    for (const integration of integrations)
      await createSimulator({ scenario, integration, database });
    // A browser starts from it in half the time that making one takes.
    const dump = gzipSync(await dumpSmallPglite(database), { level: 9 });
    const build = createHash('sha256').update(dump).digest('hex').slice(0, 16);
    return { opening, catalogue: makeCatalogue(), dump, build };
  } finally {
    await database.close();
  }
}
