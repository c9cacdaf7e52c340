import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { TestProject } from 'vitest/node';

declare module 'vitest' {
  interface ProvidedContext {
    /** Where `sume-sim lab` serves the page. */
    labUrl: string;
  }
}

const root = fileURLToPath(new URL('../..', import.meta.url));

/** Builds the page as it ships, and serves it with the command that serves it elsewhere. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  await promisify(execFile)('npm', ['run', '--silent', 'build:lab'], { cwd: root });
  const command = ['--import', 'tsx', 'sim/cli/main.ts', 'lab', '--port', '0', '--json'];
  const child = spawn(process.execPath, command, {
    cwd: root,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [line] = (await once(createInterface(child.stdout), 'line')) as [string];
  project.provide('labUrl', (JSON.parse(line) as { url: string }).url);
  return async () => {
    const ended = once(child, 'exit');
    child.kill('SIGINT');
    const [code] = (await ended) as [number | null];
    if (code !== 0) throw new Error(`"sume-sim lab" ended with ${code} after Ctrl-C.`);
  };
}
