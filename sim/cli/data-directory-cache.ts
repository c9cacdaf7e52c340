import { mkdir, open, rename, rm, type FileHandle } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { crc32 } from 'node:zlib';

/** Raised when a file's layout or a dump's content changes: other versions then never read each other's. */
const FORMAT = 2;

const CHECKSUM_BYTES = 4;

/** Numbers the drafts of this process, so that no two are the same file. */
let drafts = 0;

/** Dumps of prepared PGlite data directories, one file for each PGlite version. */
export interface DataDirectoryCache {
  /** The dump, or null if there is none or it is damaged. */
  read(): Promise<Uint8Array<ArrayBuffer> | null>;
  /**
   * Keeps a dump. The file appears whole or not at all, so processes that do this at once are safe from each
   * other.
   *
   * @throws what the file system says if the folder can't be written.
   */
  write(dump: Uint8Array): Promise<void>;
  readonly file: string;
}

/** The cache in a folder, which need not exist yet. */
export function createDataDirectoryCache(
  folder: string,
  pgliteVersion: string,
): DataDirectoryCache {
  const file = join(folder, `pglite-${pgliteVersion}-${FORMAT}.dump`);
  return {
    file,
    read: async () => {
      try {
        const handle = await open(file, 'r');
        try {
          return await readChecked(handle);
        } finally {
          await handle.close();
        }
      } catch (error) {
        if (isFileSystemError(error)) return null;
        throw error;
      }
    },
    write: async (dump) => {
      await makeFolder(folder);
      drafts += 1;
      const draft = `${file}.${process.pid}-${drafts}`;
      const checksum = Buffer.alloc(CHECKSUM_BYTES);
      checksum.writeUInt32BE(crc32(dump));
      const handle = await open(draft, 'w', 0o600);
      try {
        await handle.writev([checksum, dump]);
      } finally {
        await handle.close();
      }
      try {
        await rename(draft, file);
      } catch (error) {
        await rm(draft, { force: true });
        throw error;
      }
    },
  };
}

/** The dump in a buffer of its own, read in one go: it is what every start waits for. */
async function readChecked(handle: FileHandle): Promise<Uint8Array<ArrayBuffer> | null> {
  const { size } = await handle.stat();
  if (size <= CHECKSUM_BYTES) return null;
  const checksum = Buffer.alloc(CHECKSUM_BYTES);
  await handle.read(checksum, 0, CHECKSUM_BYTES, 0);
  const dump = new Uint8Array(size - CHECKSUM_BYTES);
  const { bytesRead } = await handle.read(dump, 0, dump.length, CHECKSUM_BYTES);
  return bytesRead === dump.length && crc32(dump) === checksum.readUInt32BE(0) ? dump : null;
}

/** An error that the file system reported, as against a mistake in this program. */
export function isFileSystemError(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && 'code' in error && 'syscall' in error;
}

/**
 * Makes a folder and what is missing above it. Not by `recursive`: that never returns where the file system
 * answers "no such folder" to whatever one tries to make, as /proc does.
 */
async function makeFolder(folder: string): Promise<void> {
  try {
    await mkdir(folder, { mode: 0o700 });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EEXIST') return;
    if (code !== 'ENOENT' || dirname(folder) === folder) throw error;
    await makeFolder(dirname(folder));
    await mkdir(folder, { mode: 0o700 });
  }
}
