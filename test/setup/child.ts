import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

/** A program of this repository, run as a process: from its source, or as it was built. */
export interface Child {
  /** The first line that it printed, which is JSON. */
  first: unknown;
  /** What it wrote to stderr. */
  errors: () => string;
  /**
   * Sends the signal; resolves with the exit code, or null for one that died of it. One that does not end is
   * killed, and the promise rejects.
   */
  end: (signal: NodeJS.Signals) => Promise<number | null>;
}

/** Longer than a service waits for what it has under way. */
const LONGEST_END_MS = 60_000;

const root = fileURLToPath(new URL('../..', import.meta.url));

/** Starts it; resolves with its first line. Rejects with what it wrote to stderr if it ends before that. */
export async function startChild(
  file: string,
  args: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<Child> {
  const loader = file.endsWith('.ts') ? ['--import', 'tsx'] : [];
  const child: ChildProcess = spawn(process.execPath, [...loader, file, ...args], {
    cwd: root,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const closed = once(child, 'close') as Promise<[number | null, NodeJS.Signals | null]>;
  let errors = '';
  child.stderr?.on('data', (piece: Buffer) => (errors += piece.toString()));
  if (child.stdout === null) throw new Error('A piped stdout is missing.');
  const line = await Promise.race([
    once(createInterface(child.stdout), 'line') as Promise<[string]>,
    closed.then(() => null),
  ]);
  if (line === null) throw new Error(`${file} ended before it was ready: ${errors}`);
  return {
    first: JSON.parse(line[0]),
    errors: () => errors,
    end: async (signal) => {
      const tooLong = setTimeout(() => child.kill('SIGKILL'), LONGEST_END_MS);
      child.kill(signal);
      const [code, diedOf] = await closed;
      clearTimeout(tooLong);
      if (diedOf === 'SIGKILL' && signal !== 'SIGKILL') {
        throw new Error(`${file} did not end within ${LONGEST_END_MS} ms of ${signal}: ${errors}`);
      }
      return code;
    },
  };
}
