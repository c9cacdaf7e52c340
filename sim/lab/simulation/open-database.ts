import { PGlite } from '@electric-sql/pglite';

const CACHE = 'sume-sim-lab';

/**
 * Opens PGlite from the data directory that ships with the page. It is kept unpacked in Cache Storage under
 * the build's name: unpacking takes as long as the rest of a warm start, and another build's directory may not
 * fit this one's PGlite.
 *
 * @param tell gets a line for the reader, and how much of the work is done, from 0 to 1.
 */
export async function openDatabase(
  dumpUrl: string,
  build: string,
  tell: (text: string, done: number) => void,
): Promise<PGlite> {
  tell('Fetching the database', 0.1);
  const key = `${dumpUrl}?unpacked=${build}`;
  // Absent where the page is not in a secure context.
  const cache = 'caches' in globalThis ? await caches.open(CACHE) : null;
  let dump = await (await cache?.match(key))?.blob();
  if (dump === undefined) {
    const response = await fetch(dumpUrl);
    if (!response.ok || response.body === null) {
      throw new Error(
        `The database could not be fetched: the server answered ${response.status} for ${dumpUrl}. Reload ` +
          'the page; if that does not help, build the lab again.',
      );
    }
    const unpacked = response.body.pipeThrough(new DecompressionStream('gzip'));
    dump = await new Response(unpacked).blob();
    if (cache !== null) {
      for (const old of await cache.keys()) await cache.delete(old);
      // A full disk only costs the next start its time.
      await cache.put(key, new Response(dump)).catch(() => {});
    }
  }
  tell('Starting PostgreSQL', 0.5);
  const database = await PGlite.create({ loadDataDir: dump });
  tell('Ready', 1);
  return database;
}
