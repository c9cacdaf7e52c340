import { spawn } from 'node:child_process';
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import {
  createDataDirectoryCache,
  type DataDirectoryCache,
} from '../../../../sim/cli/data-directory-cache.ts';
import { pgliteVersion } from '../../../../sim/cli/pglite.ts';
import { runCli } from './run-cli.ts';

const root = fileURLToPath(new URL('../../../..', import.meta.url));

interface Ended {
  code: number | null;
  stdout: string;
  stderr: string;
}

let folder: string;
let cache: DataDirectoryCache;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sume-sim-main-'));
  cache = createDataDirectoryCache(join(folder, 'sume-sim'), await pgliteVersion());
  await cache.write(await readFile(inject('pgliteTemplate')));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** Runs the command line as a process of its own. `hangUp` closes its stdout at the first output. */
async function sumeSim(
  args: string[],
  options: { preload?: string; hangUp?: boolean } = {},
): Promise<Ended> {
  const preload = options.preload === undefined ? [] : ['--import', options.preload];
  const env: NodeJS.ProcessEnv = { ...process.env, XDG_CACHE_HOME: folder };
  delete env['FORCE_COLOR'];
  const child = spawn(
    process.execPath,
    [...preload, '--import', 'tsx', 'sim/cli/main.ts', ...args],
    { cwd: root, env, stdio: ['ignore', 'pipe', 'pipe'] },
  );
  let stdout = '';
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
    if (options.hangUp === true) child.stdout.destroy();
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code) => resolve({ code, stdout, stderr }));
  });
}

test('wrong input ends with 2, one line on stderr, and no stack trace', async () => {
  expect(await sumeSim(['run', 'stale-pol'])).toEqual({
    code: 2,
    stdout: '',
    stderr: 'sume-sim: no scenario is called "stale-pol"; did you mean "stale-poll"?\n',
  });
});

test('a reader that stops reading, as head does, is no error', async () => {
  const { code, stderr } = await sumeSim(['list', '--json'], { hangUp: true });
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
});

test('a run begins from the kept database, leaves it as it is, and ends by itself', async () => {
  const before = await stat(cache.file);
  const { code, stdout, stderr } = await sumeSim(['run', 'stale-poll', '--seed', '1']);
  expect(stdout).toMatch(/^stale-poll · integration guarded · seed 1 · database pglite\n/);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect((await stat(cache.file)).mtimeMs).toBe(before.mtimeMs);
});

describe('Ctrl-C in a search', () => {
  test('ends it with what was covered, and 130', async () => {
    const preload = join(folder, 'press-ctrl-c.mjs');
    // Presses it as soon as the search listens for it, so that no waiting is needed.
    await writeFile(
      preload,
      `process.on('newListener', (name) => {
         if (name === 'SIGINT') setImmediate(() => process.kill(process.pid, 'SIGINT'));
       });`,
    );
    const { code, stdout } = await sumeSim(['fuzz', 'stale-poll', '--runs', '1000000', '--json'], {
      preload,
    });
    const result = JSON.parse(stdout) as { verdict: string; complete: boolean; runs: number };
    expect(result).toMatchObject({ verdict: 'pass', complete: false });
    expect(result.runs).toBeGreaterThan(0);
    expect(code).toBe(130);
  });
});

describe('a search in several processes', () => {
  test('finds the same first violation as one process does, whoever is faster', async () => {
    const search = [
      'fuzz',
      'stale-poll',
      '--integration',
      'naive-update',
      '--runs',
      '80',
      '--json',
    ];
    const alone = await runCli(...search);
    const shared = await sumeSim([...search, '--jobs', '2']);
    expect([alone.code, shared.code]).toEqual([1, 1]);
    const [one, other] = [alone, shared].map(
      ({ stdout }) => JSON.parse(stdout) as { seed: number; token: string; shrunk: object },
    );
    expect(other?.seed).toBe(one?.seed);
    expect(other?.token).toBe(one?.token);
    expect(other?.shrunk).toEqual(one?.shrunk);
  });

  test('covers every schedule once', async () => {
    const search = ['explore', 'early-webhook', '--faults', '1', '--json'];
    type Covered = { schedules: number; complete: boolean };
    const covered = ({ stdout }: { stdout: string }): Covered => JSON.parse(stdout) as Covered;
    const whole = covered(await runCli(...search));
    const shared = covered(await sumeSim([...search, '--jobs', '2']));
    const part = covered(await runCli(...search, '--shard', '2/2'));
    expect(whole.complete).toBe(true);
    expect(shared).toMatchObject({ schedules: whole.schedules, complete: true });
    expect(part.schedules).toBeLessThan(whole.schedules);
  });
});
