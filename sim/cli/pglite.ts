import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { PGlite } from '@electric-sql/pglite';
import { createSmallPglite, dumpSmallPglite } from '../world/small-pglite.ts';
import { cacheFolder } from './cache-folder.ts';
import { createDataDirectoryCache } from './data-directory-cache.ts';
import { openPrepared, type Maker } from './prepared-database.ts';

/**
 * Opens an empty PGlite for one command. Creating one runs initdb, which takes seconds; hence the first
 * command keeps a dump of the data directory in the user's cache folder, and later ones begin from it, three
 * times as fast. `explain` gets one line if none can be kept.
 */
export async function openPGlite(
  env: NodeJS.ProcessEnv,
  explain: (line: string) => Promise<void>,
): Promise<PGlite> {
  const folder = cacheFolder(env);
  if (folder === null) return createSmallPglite();
  return openPrepared(createDataDirectoryCache(folder, await pgliteVersion()), pglite, explain);
}

const pglite: Maker<PGlite> = {
  create: createSmallPglite,
  // Not compressed: inflating takes longer than reading the bytes.
  dump: dumpSmallPglite,
  load: (dump) => PGlite.create({ loadDataDir: new BytesBlob(dump) }),
};

/** A blob that gives away its bytes as they are. Node's own copies them, piece by piece: 0.2 s for a dump. */
class BytesBlob extends Blob {
  readonly #bytes: Uint8Array<ArrayBuffer>;

  constructor(bytes: Uint8Array<ArrayBuffer>) {
    super([]);
    this.#bytes = bytes;
  }

  override arrayBuffer(): Promise<ArrayBuffer> {
    const { buffer, byteOffset, byteLength } = this.#bytes;
    const whole = byteLength === buffer.byteLength;
    return Promise.resolve(whole ? buffer : buffer.slice(byteOffset, byteOffset + byteLength));
  }
}

/** The installed version: a data directory is good for the version that made it, and no other. */
export async function pgliteVersion(): Promise<string> {
  const entry = createRequire(import.meta.url).resolve('@electric-sql/pglite');
  const manifest = JSON.parse(
    await readFile(join(dirname(entry), '..', 'package.json'), 'utf8'),
  ) as { version: string };
  return manifest.version;
}
