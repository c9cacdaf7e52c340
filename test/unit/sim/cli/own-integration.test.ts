import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { exitCode } from '../../../../sim/cli/exit-code.ts';
import { UsageError } from '../../../../sim/cli/usage-error.ts';
import type { Run } from '../../../../sim/world/run.ts';
import { runCli } from './run-cli.ts';

const NAIVE = 'test/kit/naive-file.ts';
const ONLY_ENDS = 'test/kit/only-ends-file.ts';

describe('--integration with a file', () => {
  let token = '';

  test('fuzz finds what is wrong with it, and names the file in what is to be typed and pasted', async () => {
    const { code, stdout } = await runCli(
      'fuzz',
      'stale-poll',
      '--integration',
      NAIVE,
      '--runs',
      '40',
    );
    expect(code).toBe(1);
    expect(stdout).toContain('integration naive-file.ts');
    expect(stdout).toContain(`import { integration } from './${NAIVE}'`);
    const [, command, found = ''] =
      /\n(npm run sim -- replay (\S+) --integration \S+)\n*$/.exec(stdout) ?? [];
    expect(command).toContain(` --integration ${NAIVE}`);
    token = found;
  });

  test('replay has the failure again, with the file, and asks for it where it is missing', async () => {
    const again = await runCli('replay', token, '--integration', NAIVE);
    expect(again.code).toBe(1);
    const without = await runCli('replay', token);
    expect(without.error).toBeInstanceOf(UsageError);
    expect(String(without.error)).toContain('naive-file.ts"; add --integration');
    const other = await runCli('replay', token, '--integration', 'guarded');
    expect(String(other.error)).toContain('not "guarded"; name its file');
  });

  test('one that calls the global fetch says so in the file', async () => {
    const command = ['run', 'stale-poll', '--seed', '1', '--json', '--integration'];
    const [byPort, byGlobal] = [
      await runCli(...command, NAIVE),
      await runCli(...command, 'test/kit/global-fetch-file.ts'),
    ].map(({ stdout }) => JSON.parse(stdout) as Run);
    expect(byGlobal?.verdict).not.toBe('error');
    expect(byGlobal?.steps).toEqual(byPort?.steps);
  });

  test('run and explore take it too', async () => {
    const run = await runCli('run', 'stale-poll', '--integration', NAIVE, '--seed', '1', '--json');
    expect(JSON.parse(run.stdout)).toMatchObject({ integration: 'naive-file.ts' });
    const options = ['stale-poll', '--integration', NAIVE, '--max', '40'];
    expect((await runCli('explore', ...options)).code).toBe(1);
  });
});

describe('a pass of a file', () => {
  test.each([
    ['run', 'stale-poll', '--seed', '1'],
    ['fuzz', 'stale-poll', '--runs', '20'],
    ['explore', 'stale-poll'],
  ])('%s says what was not checked, to a person and in JSON', async (...args) => {
    const command = [...args, '--integration', ONLY_ENDS];
    const { code, stdout } = await runCli(...command);
    expect(code).toBe(exitCode.pass);
    const [, below = ''] = stdout.split('✓ pass: ');
    expect(below.match(/^ {2}Not checked +With/gm)).toHaveLength(2);
    expect(below).toMatch(/Without readParked[^]*Without readEffects[^]*Through readers/);
    const { unchecked } = JSON.parse((await runCli(...command, '--json')).stdout) as {
      unchecked: string[];
    };
    expect(unchecked).toHaveLength(3);
    expect(unchecked.join('\n')).toMatch(/Without readParked[^]*Without readEffects/);
  });

  test('what is shipped is checked whole', async () => {
    const command = ['run', 'stale-poll', '--seed', '1'];
    expect((await runCli(...command)).stdout).not.toContain('Not checked');
    expect(JSON.parse((await runCli(...command, '--json')).stdout)).not.toHaveProperty('unchecked');
  });
});

describe('a file whose code does otherwise each time', () => {
  const BY_CHANCE = 'test/kit/by-chance-file.ts';

  test.each([
    ['fuzz', 'stale-poll', '--runs', '40'],
    ['explore', 'stale-poll', '--max', '40'],
    ['explore', 'stale-poll', '--departures', '2'],
  ])('%s %s %s %s cannot judge it, and says where the runs part', async (...args) => {
    const command = [...args, '--integration', BY_CHANCE];
    const { code, stdout } = await runCli(...command);
    expect(code).toBe(exitCode.error);
    expect(stdout).toContain('? error: the run could not be judged (nondeterminism).');
    const words = stdout.replaceAll(/\s+/g, ' ');
    expect(words).toMatch(/part at step \d+: .*"poll\/job_a\/1 (select 1|update orders)"/);
    expect(words).toContain('Take the time from ports.clock');
    expect(words).not.toContain('To see this very order again');

    const json = await runCli(...command, '--json');
    expect(json.code).toBe(exitCode.error);
    const run = JSON.parse(json.stdout) as Record<string, unknown>;
    expect(run).toMatchObject({
      scenario: 'stale-poll',
      integration: 'by-chance-file.ts',
      verdict: 'error',
      error: { code: 'nondeterminism' },
      complete: false,
    });
    expect(run).not.toHaveProperty('shrunk');
    for (const name of ['seed', 'violations', 'steps', 'token']) expect(run).toHaveProperty(name);
    if (args[0] === 'explore') expect(run['limit']).toBe('nondeterminism');
  });
});

describe('a file that cannot be used is refused', () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'sume-sim-own-'));
    await writeFile(join(folder, 'nothing.mjs'), 'export const other = 1;');
    await writeFile(join(folder, 'half.mjs'), 'export default { setup() {}, start() {} };');
    await writeFile(join(folder, 'broken.mjs'), '\n\nthrow new Error("no database URL");');
    await mkdir(join(folder, 'folder.mjs'));
    await writeFile(
      join(folder, 'no-tables.mjs'),
      `export default {
         setup: ({ pool }) => pool.query('create table videos (job text references jobs)'),
         start() {},
         readJob() {},
       };`,
    );
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  test.each([
    ['missing.mjs', 'there is no file'],
    ['nothing.mjs', 'exports only other; export the integration'],
    ['half.mjs', 'readJob is missing, and should be a function'],
    ['broken.mjs', 'could not be loaded (line 3): no database URL'],
    ['folder.mjs', 'is a folder'],
    ['no-tables.mjs', 'failed: relation "jobs" does not exist (SQLSTATE 42P01). It is called once'],
  ])('%s', async (name, words) => {
    const path = relative(process.cwd(), join(folder, name));
    const { error } = await runCli('run', 'stale-poll', '--integration', path);
    expect(error).toBeInstanceOf(UsageError);
    expect(String(error)).toContain(words);
    expect(String(error)).toContain(name);
  });

  test('also on PostgreSQL, where own tables are not explored', async () => {
    const args = ['run', 'stale-poll', '--integration', NAIVE, '--database', 'postgres'];
    expect(String((await runCli(...args)).error)).toContain('leave --database out');
  });
});
