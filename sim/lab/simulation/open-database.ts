import { PGlite } from '@electric-sql/pglite';
import { provide } from './provisions.ts';

/** The shortest WebAssembly there is. It stands for initdb, which no start from a data directory runs. */
const NOTHING = Uint8Array.of(0, 0x61, 0x73, 0x6d, 1, 0, 0, 0);

/**
 * Opens PGlite from the data directory that ships with the page.
 *
 * @param tell gets a line for the reader, and how much of the work is done, from 0 to 1.
 */
export async function openDatabase(
  dumpUrl: string,
  build: string,
  tell: (text: string, done: number) => void,
): Promise<PGlite> {
  tell('Fetching the database', 0.1);
  const { program, fileSystem, dump } = provide(dumpUrl, build);
  const [pgliteWasmModule, fsBundle, loadDataDir] = await Promise.all([program, fileSystem, dump]);
  tell('Starting PostgreSQL', 0.5);
  const initdbWasmModule = await WebAssembly.compile(NOTHING);
  const database = await PGlite.create({
    pgliteWasmModule,
    initdbWasmModule,
    fsBundle,
    loadDataDir,
  });
  tell('Ready', 1);
  return database;
}
