/**
 * A process that owns one PostgreSQL server and its folder, and outlives whoever asked for it just long
 * enough to clean up.
 *
 * It is a process of its own, in a session of its own, because a test run can end in ways that run no
 * code (SIGKILL, a crash). The end of its standard input is the one signal that always comes: the kernel
 * closes the pipe whatever became of the process at the other end. Then the server is stopped and its
 * folder removed, data directory included.
 *
 * With the argument `durable` commits are flushed to disk, as PostgreSQL does unless told otherwise.
 *
 * Standard output: one line of JSON for the start (`KeeperAnswer`) and one for each command. Standard
 * input: one command a line; `restart` stops the server as a crash would and starts it again.
 */
import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { appendFileSync, chmodSync, chownSync, existsSync } from 'node:fs';
import { mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { findPostgres, type PostgresBinaries } from './postgres-binaries.ts';

export type KeeperAnswer = { url: string; directory: string } | { failed: string };

const FOLDER = /^sume-sim-postgres-(\d+)-/;

const SETTINGS = `
listen_addresses = '127.0.0.1'
unix_socket_directories = ''
max_connections = 200
log_checkpoints = off
`;

// Safe against the end of a process, which is what the tests provoke, not against the end of the machine: a
// commit is in the operating system's hands before it is answered (synchronous_commit stays on), only the
// flush to disk is left out.
const UNFLUSHED = 'fsync = off\n';

class Server {
  readonly directory: string;
  private readonly data: string;
  private binaries: PostgresBinaries | undefined;
  private port = 0;
  private running: { child: ChildProcess; exited: Promise<void> } | undefined;

  constructor() {
    this.directory = mkdtempSync(join(tmpdir(), `sume-sim-postgres-${String(process.pid)}-`));
    // The account of the server must get through to what lies inside; only `data` is its own.
    chmodSync(this.directory, 0o755);
    this.data = join(this.directory, 'data');
  }

  /** The programs; found on first use, so that `remove` clears up even where there are none. */
  private get programs(): PostgresBinaries {
    this.binaries ??= findPostgres(this.directory);
    return this.binaries;
  }

  async start(): Promise<string> {
    const { account, initdb } = this.programs;
    mkdirSync(this.data, { mode: 0o700 });
    if (account) chownSync(this.data, account.uid, account.gid);
    await this.run(initdb, [
      `--pgdata=${this.data}`,
      '--username=postgres',
      '--auth=trust',
      '--encoding=UTF8',
      '--no-locale',
      '--no-sync',
      '--no-instructions',
    ]);
    appendFileSync(
      join(this.data, 'postgresql.conf'),
      process.argv.includes('durable') ? SETTINGS : SETTINGS + UNFLUSHED,
    );
    // Somebody may take the port between the look and the start; another one is tried then.
    for (let attempt = 1; ; attempt += 1) {
      this.port = await freePort();
      try {
        await this.launch();
        return `postgres://postgres@127.0.0.1:${String(this.port)}/postgres`;
      } catch (error) {
        if (attempt === 3 || !(error instanceof ProgramFailed)) throw error;
      }
    }
  }

  /** Ends every backend without a shutdown checkpoint, then recovers from the log, on the same port. */
  async restart(): Promise<void> {
    await this.halt();
    await this.launch();
  }

  async remove(): Promise<void> {
    await this.halt();
    rmSync(this.directory, { recursive: true, force: true, maxRetries: 5 });
  }

  /** Clears away what a keeper left behind that was itself killed. */
  async removeStrays(): Promise<void> {
    for (const name of readdirSync(tmpdir())) {
      const keeper = FOLDER.exec(name)?.[1];
      if (keeper === undefined || isAlive(Number(keeper))) continue;
      const directory = join(tmpdir(), name);
      const data = join(directory, 'data');
      if (existsSync(join(data, 'postmaster.pid'))) {
        // Not running any more is as good as stopped.
        await this.run(this.programs.pgCtl, ['stop', '-w', '-m', 'immediate', '-D', data]).catch(
          (error: unknown) => {
            if (!(error instanceof ProgramFailed)) throw error;
          },
        );
      }
      try {
        rmSync(directory, { recursive: true, force: true, maxRetries: 5 });
      } catch (error) {
        // Another user's, who will clean up after themselves.
        const { code } = error as NodeJS.ErrnoException;
        if (code !== 'EACCES' && code !== 'EPERM') throw error;
      }
    }
  }

  /**
   * Resolves when the server takes connections. It runs as a child of this process, not through pg_ctl:
   * where nothing adopts orphans, as in many containers, each would stay behind as a zombie.
   */
  private launch(): Promise<void> {
    return new Promise((resolve, reject) => {
      const { account, postgres } = this.programs;
      const child = spawn(postgres, ['-D', this.data, '-p', String(this.port)], {
        ...account,
        cwd: this.directory,
        stdio: ['ignore', 'ignore', 'pipe'],
      });
      let log: string | undefined = '';
      child.stderr.on('data', (chunk: Buffer) => {
        if (log === undefined) return; // read to keep the pipe empty
        log += chunk.toString();
        // The cluster has no locale, so this is the wording whatever the machine speaks.
        if (!log.includes('database system is ready to accept connections')) return;
        log = undefined;
        resolve();
      });
      child.once('error', reject);
      this.running = {
        child,
        exited: new Promise((done) => {
          child.once('exit', () => {
            reject(new ProgramFailed(postgres, log ?? 'stopped'));
            done();
          });
        }),
      };
    });
  }

  private async halt(): Promise<void> {
    // SIGQUIT is what `pg_ctl -m immediate` sends.
    this.running?.child.kill('SIGQUIT');
    await this.running?.exited;
    this.running = undefined;
  }

  private run(program: string, args: string[]): Promise<void> {
    return new Promise((resolve, reject) => {
      const { account } = this.programs;
      const child = execFile(
        program,
        args,
        { ...account, cwd: this.directory },
        (error, stdout, stderr) => {
          if (error) reject(new ProgramFailed(program, stdout + stderr, error));
          else resolve();
        },
      );
      child.stdin?.end();
    });
  }
}

class ProgramFailed extends Error {
  readonly code = 'program_failed';

  constructor(program: string, output: string, cause?: Error) {
    super(`${program} failed: ${output.trim()}`, { cause });
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ESRCH') return false;
    if (code === 'EPERM') return true; // alive, and somebody else's
    throw error;
  }
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => {
        if (address === null || typeof address === 'string')
          reject(new Error('No port was given.'));
        else resolve(address.port);
      });
    });
  });
}

function answer(line: KeeperAnswer): void {
  process.stdout.write(`${JSON.stringify(line)}\n`);
}

async function keep(): Promise<void> {
  let server: Server | undefined;
  let url = '';
  const start = async (): Promise<void> => {
    server = new Server();
    await server.removeStrays();
    url = await server.start();
    answer({ url, directory: server.directory });
  };
  const obey = async (command: string): Promise<void> => {
    if (command !== 'restart' || !server) throw new Error(`Cannot do: ${command}`);
    await server.restart();
    answer({ url, directory: server.directory });
  };
  // One thing at a time: commands, and the end of input, wait for what is being done.
  const inTurn = async (before: Promise<void>, task: () => Promise<void>): Promise<void> => {
    await before;
    await task().catch((error: unknown) => {
      answer({ failed: describe(error) });
    });
  };

  let work = inTurn(Promise.resolve(), start);
  await new Promise<void>((resolve) => {
    const lines = createInterface({ input: process.stdin });
    lines.on('line', (line) => {
      work = inTurn(work, () => obey(line));
    });
    lines.on('close', resolve);
    // Whoever reads the answers may be gone first.
    process.stdout.on('error', () => {
      resolve();
    });
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, resolve);
  });
  await work;
  await server?.remove();
}

function describe(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? `${error.message} (${error.cause.message})` : error.message;
}

await keep();
process.exit(0);
