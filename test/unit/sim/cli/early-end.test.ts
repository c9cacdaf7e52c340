import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';

const root = fileURLToPath(new URL('../../../..', import.meta.url));

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sume-sim-early-end-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

test.each([
  ['calls process.exit(0)', 'process.exit(0);', /process\.exit\(0\) at file:.*file\.mjs:1:9/],
  ['waits for what never comes', 'await new Promise(() => {});', /waits at its top level/],
  [
    'throws where nothing catches it',
    `setTimeout(() => { throw new Error('late'); }); await new Promise((go) => setTimeout(go, 9e5));`,
    /which nothing caught/,
  ],
])('a file that %s is no pass, and is told', async (_what, source, words) => {
  const path = join(folder, 'file.mjs');
  await writeFile(path, source);
  const args = ['--import', 'tsx', 'sim/cli/main.ts', 'run', '--json', '--integration', path];
  const failure = (await promisify(execFile)(process.execPath, args, { cwd: root }).catch(
    (error: unknown) => error,
  )) as { code: number; stdout: string; stderr: string };
  expect(failure.code).toBe(3);
  expect(failure.stderr).toMatch(words);
  const object = JSON.parse(failure.stdout) as { error: { message: string } };
  expect(object).toMatchObject({ verdict: 'error', error: { code: 'early_end' } });
  expect(object.error.message).toMatch(words);
});
