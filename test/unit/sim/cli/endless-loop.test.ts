import { spawn } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { createDataDirectoryCache } from '../../../../sim/cli/data-directory-cache.ts';
import { pgliteVersion } from '../../../../sim/cli/pglite.ts';

const root = fileURLToPath(new URL('../../../..', import.meta.url));
const IMPATIENT = 'test/unit/sim/cli/impatient-program.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sume-sim-loop-'));
  const cache = createDataDirectoryCache(join(folder, 'sume-sim'), await pgliteVersion());
  await cache.write(await readFile(inject('pgliteTemplate')));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** An integration in a file, TypeScript that is not what runs: `parts` begins in line 7. */
async function file(name: string, parts: string): Promise<string> {
  const path = join(folder, name);
  await writeFile(
    path,
    `import { naive, naiveHandlers, ONLY_ENDS } from '${join(root, 'test/kit/naive.ts')}';

interface Erased {
  count: number;
}

${parts}
`,
  );
  return path;
}

const inWebhook = `export const integration = naive({
  start: (ports) => ({
    ...naiveHandlers(ports),
    handleWebhook: async (): Promise<Response> => {
      while (true) {} // line 11
    },
  }),
});`;

const inPoll = `export const integration = naive({
  start: (ports) => ({
    ...naiveHandlers(ports),
    poll: async (): Promise<void> => {
      for (;;) await null; // line 11
    },
  }),
});`;

interface Ended {
  code: number | null;
  stdout: string;
  stderr: string;
}

/** Runs the command line as a process of its own: a loop has the process that it runs in. */
async function sumeSim(program: string, ...args: string[]): Promise<Ended> {
  const env: NodeJS.ProcessEnv = { ...process.env, XDG_CACHE_HOME: folder };
  delete env['FORCE_COLOR'];
  const child = spawn(process.execPath, ['--import', 'tsx', program, ...args], {
    cwd: root,
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
    // Should nothing notice the loop, no other signal would.
    timeout: 50_000,
    killSignal: 'SIGKILL',
  });
  const ended = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].setEncoding('utf8').on('data', (text: string) => {
      ended[name] += text;
    });
  }
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code) => resolve({ code, ...ended }));
  });
}

describe('code that loops', () => {
  test('is shown with its line and its schedule, and a replay ends in the same way', async () => {
    const path = await file('in-webhook.ts', inWebhook);
    const found = await sumeSim(IMPATIENT, 'run', 'stale-poll', '--integration', path);
    expect(found).toMatchObject({ code: 1, stderr: '' });
    const words = found.stdout.replaceAll(/\s+/g, ' ');
    expect(words).toContain('The task web/job_a/1 ran for 1 s without giving control back');
    expect(words).toContain(`${path}:11:`);
    const token = /replay (\S+) --integration/.exec(words)?.[1] ?? '';

    const again = await sumeSim(IMPATIENT, 'replay', token, '--integration', path, '--json');
    expect(again).toMatchObject({ code: 1, stderr: '' });
    const run = JSON.parse(again.stdout) as { loop: { where: string }; steps: { label: string }[] };
    expect(run).toMatchObject({
      scenario: 'stale-poll',
      integration: 'in-webhook.ts',
      verdict: 'fail',
      violations: [{ invariant: 'converges' }],
      loop: { task: 'web/job_a/1' },
      token,
    });
    expect(run.loop.where).toContain(`${path}:11:`);
    expect(run.steps.at(-1)?.label).toBe('webhook/job_a → web');
  });

  test('over promises that are done is told by each process of a search, and the first is shown', async () => {
    const path = await file('in-poll.ts', inPoll);
    const search = ['fuzz', 'stale-poll', '--runs', '40', '--jobs', '2', '--integration', path];
    const { code, stdout } = await sumeSim(IMPATIENT, ...search);
    expect(code).toBe(1);
    const words = stdout.replaceAll(/\s+/g, ' ');
    expect(words).toContain('(the first found: ');
    expect(words).toContain('The task poll/job_a/1 ran for 1 s without giving control back');
    // Met as it begins its turn, such code is where its function begins.
    expect(words.replaceAll(' ', '')).toMatch(/poll\(\S*in-poll\.ts:1[01]:\d+\)/);
    expect(words).toMatch(/replay sume1-\S+ --integration/);
  });

  test('ends an exhaustive search, which says that it covered no more', async () => {
    const path = await file('in-poll.ts', inPoll);
    const search = ['explore', 'stale-poll', '--integration', path, '--json'];
    const { code, stdout } = await sumeSim(IMPATIENT, ...search);
    expect(code).toBe(1);
    expect(JSON.parse(stdout)).toMatchObject({
      verdict: 'fail',
      loop: { task: 'poll/job_a/1' },
      schedules: 1,
      complete: false,
      limit: 'endless_loop',
      failures: 1,
    });
  });

  test.each([
    [
      'transaction',
      'start: (ports) => ({ ...naiveHandlers(ports), poll: () => ports.database.transaction(async () => { for (;;); }) })',
      1,
      'The task poll/job_a/1',
    ],
    ['setup', 'setup: () => { for (;;); }', 2, 'could not be used: The code'],
  ])('is found in a %s too', async (name, parts, code, words) => {
    const path = await file(`${name}.ts`, `export const integration = naive({ ${parts} });`);
    const ended = await sumeSim(IMPATIENT, 'run', 'stale-poll', '--integration', path);
    expect(ended.code).toBe(code);
    const said = (ended.stdout + ended.stderr).replaceAll(/\s+/g, ' ');
    expect(said).toContain(`${words} ran for 1 s without giving control back, in `);
    expect(said).toContain(`${path}:7:`);
  });
});

test('a statement that has no end is told too, later than code', async () => {
  const sql = 'with recursive t as (select 1 union all select 1 from t) select count(*) from t';
  const poll = `poll: () => ports.pool.query('${sql}')`;
  const path = await file(
    'statement.ts',
    `export const integration = naive({ start: (ports) => ({ ...naiveHandlers(ports), ${poll} }) });`,
  );
  const ended = await sumeSim(IMPATIENT, 'run', 'stale-poll', '--integration', path);
  expect(ended.code).toBe(1);
  expect(ended.stdout.replaceAll(/\s+/g, ' ')).toContain(
    'The task poll/job_a/1 ran for 5 s without giving control back, in a statement',
  );
});

test('code that computes for a second is no loop', async () => {
  const path = await file(
    'slow.ts',
    `export const integration = naive({
      start: (ports) => ({
        ...naiveHandlers(ports, ONLY_ENDS),
        submit: async (order) => {
          const end = performance.now() + 1_000;
          while (performance.now() < end);
          await naiveHandlers(ports, ONLY_ENDS).submit(order);
        },
      }),
    });`,
  );
  const args = ['run', 'stale-poll', '--seed', '1', '--integration', path];
  const { code, stdout } = await sumeSim('sim/cli/main.ts', ...args);
  expect(stdout).toContain('✓ pass');
  expect(code).toBe(0);
});
