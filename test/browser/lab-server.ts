import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { TestProject } from 'vitest/node';
import { startChild } from '../setup/child.ts';

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
  const child = await startChild('sim/cli/main.ts', ['lab', '--port', '0', '--json'], {});
  project.provide('labUrl', (child.first as { url: string }).url);
  return async () => {
    const code = await child.end('SIGINT');
    if (code !== 0)
      throw new Error(`"sume-sim lab" ended with ${code} after Ctrl-C: ${child.errors()}`);
  };
}
