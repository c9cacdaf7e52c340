import { mkdir, open, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';

/** Raised when a file's layout or a dump's content changes: other versions then never read each other's. */
const FORMAT = 1;

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
      let bytes: Buffer<ArrayBuffer>;
      try {
        bytes = await readFile(file);
      } catch (error) {
        if (isFileSystemError(error)) return null;
        throw error;
      }
      if (bytes.length <= CHECKSUM_BYTES) return null;
      const dump = new Uint8Array(
        bytes.buffer,
        bytes.byteOffset + CHECKSUM_BYTES,
        bytes.length - CHECKSUM_BYTES,
      );
      return crc32(dump) === bytes.readUInt32BE(0) ? dump : null;
    },
    write: async (dump) => {
      await mkdir(folder, { recursive: true, mode: 0o700 });
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

/** An error that the file system reported, as against a mistake in this program. */
export function isFileSystemError(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && 'code' in error && 'syscall' in error;
}
