import { gzipSync } from 'node:zlib';
import type { PGlite } from '@electric-sql/pglite';

/**
 * The data directory of a database in which every integration's tables stand ready, packed. A browser starts
 * from it in half the time that making one takes.
 */
export async function packDataDirectory(database: PGlite): Promise<Uint8Array> {
  // Nobody here makes databases: without their templates it is a third smaller.
  await database.exec('update pg_database set datistemplate = false');
  await database.exec('drop database template0');
  await database.exec('drop database template1');
  // A start sets up all shared buffers, and a simulated world fits into few.
  await database.exec("alter system set shared_buffers = '8MB'");
  await database.exec('checkpoint');
  const dump = await database.dumpDataDir('none');
  return gzipSync(new Uint8Array(await dump.arrayBuffer()), { level: 9 });
}
