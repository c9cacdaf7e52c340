import fileSystemUrl from 'virtual:pglite.data?url';
import programUrl from 'virtual:pglite.wasm?url';

const CACHE = 'sume-sim-lab';

/** What PGlite is made of, on its way or there already. */
export interface Provisions {
  program: Promise<WebAssembly.Module>;
  /** PostgreSQL's own files: time zones, text search, and the like. */
  fileSystem: Promise<Blob>;
  /** The data directory that ships with the page. */
  dump: Promise<Blob>;
}

let provisions: Provisions | null = null;

/**
 * Fetches all that PGlite needs, at the same time and only once.
 *
 * The program is compiled as it arrives, from the answer itself: only then does a browser keep the compiled code
 * beside the file, for the next visit. PGlite alone compiles a copy of the answer, which the browser does not know
 * again.
 *
 * @param build names the data directory: another build's may not fit this one's PGlite.
 */
export function provide(dumpUrl: string, build: string): Provisions {
  provisions ??= {
    program: WebAssembly.compileStreaming(get(programUrl)),
    fileSystem: get(fileSystemUrl).then((response) => response.blob()),
    dump: dumpOf(dumpUrl, build),
  };
  // Whoever waits for one of them is told; the others may fail unheard.
  for (const one of Object.values<Promise<unknown>>({ ...provisions })) one.catch(() => {});
  return provisions;
}

/**
 * The data directory, unpacked. It is kept so in Cache Storage under the build's name: unpacking takes longer than
 * reading it from there.
 */
async function dumpOf(dumpUrl: string, build: string): Promise<Blob> {
  const key = `${dumpUrl}?unpacked=${build}`;
  // Absent where the page is not in a secure context.
  const cache = 'caches' in globalThis ? await caches.open(CACHE) : null;
  const kept = await cache?.match(key);
  if (kept !== undefined) return kept.blob();
  const { body } = await get(dumpUrl);
  const unpacked = body?.pipeThrough(new DecompressionStream('gzip')) ?? null;
  const dump = await new Response(unpacked).blob();
  if (cache !== null) void keep(cache, key, dump);
  return dump;
}

/** A full disk only costs the next start its time. */
async function keep(cache: Cache, key: string, dump: Blob): Promise<void> {
  try {
    for (const old of await cache.keys()) await cache.delete(old);
    await cache.put(key, new Response(dump));
  } catch {}
}

async function get(url: string): Promise<Response> {
  const response = await fetch(url);
  if (response.ok) return response;
  throw new Error(
    `The database could not be fetched: the server answered ${response.status} for ${url}. Reload the page; if ` +
      'that does not help, build the lab again.',
  );
}
