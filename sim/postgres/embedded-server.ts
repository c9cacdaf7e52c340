import { spawn } from 'node:child_process';
import { createRequire } from 'node:module';
import { createInterface } from 'node:readline';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { KeeperAnswer } from './server-keeper.ts';

/** A PostgreSQL server of this process, gone with it. */
export interface EmbeddedServer {
  /** A connection string of its superuser. */
  url: string;
  /** The temporary folder that holds all of it. */
  directory: string;
  /** Stops the server as a crash would (`immediate`) and starts it again on the same port. */
  restart: () => Promise<void>;
  /** Stops the server; resolves when its folder is gone. */
  stop: () => Promise<void>;
}

/**
 * Starts a PostgreSQL server on a free port of this machine, with an empty data directory in a temporary
 * folder. It is stopped, and the folder removed, by `stop()` or by the end of this process, however that
 * comes about (see `server-keeper.ts`). Rejects with the reason where there is no server to be had.
 *
 * Commits are not flushed to disk, which no test can see, unless it is to be `durable`: a benchmark can.
 */
export async function startEmbeddedServer(
  options: { durable?: boolean } = {},
): Promise<EmbeddedServer> {
  const child = spawn(
    process.execPath,
    [...keeperArguments(), ...(options.durable === true ? ['durable'] : [])],
    {
      detached: true, // so that an interrupt from the terminal does not reach it
      stdio: ['pipe', 'pipe', 'pipe'],
    },
  );
  const exited = new Promise<void>((resolve) => {
    child.once('exit', () => {
      resolve();
    });
  });
  let errors = '';
  child.stderr.on('data', (chunk: Buffer) => (errors += chunk.toString()));
  const lines = createInterface({ input: child.stdout });
  const waiting: ((line: KeeperAnswer) => void)[] = [];
  lines.on('line', (line) => waiting.shift()?.(JSON.parse(line) as KeeperAnswer));

  const nextAnswer = async (): Promise<{ url: string; directory: string }> => {
    child.ref(); // only while something is awaited does it keep this process alive
    const line = await Promise.race([
      new Promise<KeeperAnswer>((resolve) => waiting.push(resolve)),
      exited.then((): KeeperAnswer => ({ failed: `the keeper of the server ended: ${errors}` })),
    ]);
    child.unref();
    if ('failed' in line) throw new Error(line.failed);
    return line;
  };
  const stop = async (): Promise<void> => {
    child.ref();
    child.stdin.end();
    await exited;
  };

  child.stdin.on('error', () => undefined); // the keeper is gone: `exited` tells
  let first;
  try {
    first = await nextAnswer();
  } catch (cause) {
    await stop();
    throw cause;
  }
  for (const stream of [child.stdin, child.stdout, child.stderr]) {
    if ('unref' in stream && typeof stream.unref === 'function') stream.unref();
  }
  return {
    ...first,
    restart: async () => {
      const restarted = nextAnswer();
      child.stdin.write('restart\n');
      await restarted;
    },
    stop,
  };
}

/** In the repository the keeper is TypeScript, which Node 20 does not read by itself. */
function keeperArguments(): string[] {
  if (!import.meta.url.endsWith('.ts')) {
    return [fileURLToPath(new URL('server-keeper.js', import.meta.url))];
  }
  const tsx = pathToFileURL(createRequire(import.meta.url).resolve('tsx')).href;
  return ['--import', tsx, fileURLToPath(new URL('server-keeper.ts', import.meta.url))];
}
