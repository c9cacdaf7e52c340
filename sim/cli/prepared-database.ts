import { isFileSystemError, type DataDirectoryCache } from './data-directory-cache.ts';

/** How a kind of database is made, in seconds from nothing, or quickly from a dump of a new one. */
export interface Maker<Database> {
  create(): Promise<Database>;
  dump(database: Database): Promise<Uint8Array>;
  load(dump: Uint8Array<ArrayBuffer>): Promise<Database>;
}

/**
 * A new, empty database: from the dump in the cache, or else made from nothing, and a dump of it kept for the
 * next time. A cache that is missing, damaged or can't be written costs time and nothing else; `explain` then
 * gets one line where the reader would wonder: when nothing can be kept, so that every start will be slow.
 */
export async function openPrepared<Database>(
  cache: DataDirectoryCache,
  maker: Maker<Database>,
  explain: (line: string) => Promise<void>,
): Promise<Database> {
  const kept = await cache.read();
  if (kept !== null) return maker.load(kept);
  const database = await maker.create();
  try {
    await cache.write(await maker.dump(database));
  } catch (error) {
    if (!isFileSystemError(error)) throw error;
    await explain(
      `sume-sim: the prepared database could not be kept as ${cache.file} (${error.code}), so every start ` +
        'takes seconds longer; make its folder writable, or set XDG_CACHE_HOME to one that is',
    );
  }
  return database;
}
