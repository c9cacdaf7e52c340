import { PGlite } from '@electric-sql/pglite';

/** A data directory is read whole at every start, and so is kept small: the log of writes comes in 16 MB files. */
const SMALL_LOG_FILES = ['--wal-segsize=1'];

/**
 * A start sets up memory for all buffers, locks and connections that are allowed for. A simulated world fits into
 * few, and PGlite has one connection.
 */
const SMALL_MEMORY = [
  'shared_buffers = 2MB',
  'wal_buffers = 64kB',
  'max_connections = 3',
  'max_locks_per_transaction = 16',
  'max_wal_senders = 0',
  'autovacuum_worker_slots = 1',
  'autovacuum_max_workers = 1',
];

/** A PGlite for simulated worlds, made from nothing: that runs initdb and takes seconds. */
export function createSmallPglite(): Promise<PGlite> {
  return PGlite.create({ initDbStartParams: SMALL_LOG_FILES, postgresqlconf: SMALL_MEMORY });
}

/**
 * Its data directory as an uncompressed tar file, for `loadDataDir`. The database can be used after it as before,
 * except that no other can be created in it.
 */
export async function dumpSmallPglite(database: PGlite): Promise<Uint8Array<ArrayBuffer>> {
  // Two of the three databases in a data directory are templates that nobody here copies: a third of it.
  await database.exec('update pg_database set datistemplate = false');
  await database.exec('drop database template0');
  await database.exec('drop database template1');
  await database.exec('checkpoint');
  await removeSpareLogFiles(database);
  const dump = await database.dumpDataDir('none');
  return new Uint8Array(await dump.arrayBuffer());
}

/** PostgreSQL keeps files ready for what will be written: a dump that nobody writes much to needs none. */
async function removeSpareLogFiles(database: PGlite): Promise<void> {
  const { rows } = await database.query<{ folder: string; current: string }>(
    "select current_setting('data_directory') || '/pg_wal' as folder, " +
      'pg_walfile_name(pg_current_wal_insert_lsn()) as current',
  );
  const { FS } = database.Module;
  for (const { folder, current } of rows) {
    const files = FS.readdir(folder) as string[];
    const logFiles = files.filter((name) => /^[0-9A-F]{24}$/.test(name));
    for (const name of logFiles) if (name !== current) FS.unlink(`${folder}/${name}`);
  }
}
