import { PGlite } from '@electric-sql/pglite';
import type { Progress, Wish } from './protocol.ts';
import { provide } from './provisions.ts';

type OpenWish = Extract<Wish, { kind: 'open' }>;

/** The shortest WebAssembly there is. It stands for initdb, which no start from a data directory runs. */
const NOTHING = Uint8Array.of(0, 0x61, 0x73, 0x6d, 1, 0, 0, 0);

let opening: Promise<PGlite> | null = null;

/**
 * Opens PGlite from the data directory that ships with the page: once, whoever asks, and the first is told how far
 * it is.
 */
export function openDatabase(wish: OpenWish, progress: (made: Progress) => void): Promise<PGlite> {
  opening ??= create(wish, (text, done) => progress({ of: 'open', text, done }));
  // Who asks later is told as well; until then it may fail unheard.
  opening.catch(() => {});
  return opening;
}

async function create(
  { dumpUrl, build }: OpenWish,
  /** Gets a line for the reader, and how much of the work is done, from 0 to 1. */
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
