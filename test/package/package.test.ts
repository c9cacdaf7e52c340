import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

const root = fileURLToPath(new URL('../..', import.meta.url));
const execute = promisify(execFile);

/** A project of somebody else: empty but for the packed package, which is installed there. */
let project: string;
let tarball: string;

beforeAll(async () => {
  project = await mkdtemp(join(tmpdir(), 'sume-sim-package-'));
  await run('npm', ['run', 'build'], root);
  const packed = await run(
    'npm',
    ['pack', '--json', '--ignore-scripts', '--pack-destination', project],
    root,
  );
  const [{ filename }] = JSON.parse(packed) as [{ filename: string }];
  tarball = join(project, filename);
  const manifest = { name: 'somebody-else', private: true, type: 'module' };
  await writeFile(join(project, 'package.json'), JSON.stringify(manifest));
  // Without install scripts: machines that refuse them must get a working package too.
  const quiet = ['--ignore-scripts', '--no-audit', '--no-fund', '--prefer-offline'];
  await run('npm', ['install', ...quiet, tarball], project);
});

afterAll(() => rm(project, { recursive: true, force: true }));

/** Runs a program to its end, gives its stdout, and fails with all that it said. */
async function run(program: string, args: string[], cwd: string): Promise<string> {
  try {
    // The command keeps a prepared database: here, and not in the home of whoever runs the tests.
    const env = { ...process.env, XDG_CACHE_HOME: join(project, 'cache') };
    const { stdout } = await execute(program, args, { cwd, env, maxBuffer: 64 * 1024 * 1024 });
    return stdout;
  } catch (error) {
    const { stdout = '', stderr = '' } = error as { stdout?: string; stderr?: string };
    throw new Error(`${program} ${args.join(' ')} failed.\n${stdout}\n${stderr}`, { cause: error });
  }
}

async function exportNames(): Promise<string[]> {
  const manifest = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as {
    name: string;
    exports: Record<string, unknown>;
  };
  return Object.keys(manifest.exports)
    .filter((path) => path !== './package.json')
    .map((path) => manifest.name + path.slice(1));
}

test('every export is importable, and types itself, in the strictest ESM TypeScript', async () => {
  const names = await exportNames();
  const lines = names.map((name, index) => `import * as export${index} from '${name}';`);
  const used = names.map((_name, index) => `Object.keys(export${index})`);
  await writeFile(
    join(project, 'use.ts'),
    [...lines, `export const all = [${used.join(', ')}];`, ''].join('\n'),
  );
  const compilerOptions = {
    target: 'ES2022',
    module: 'NodeNext',
    lib: ['ES2023', 'DOM', 'DOM.Iterable'],
    types: [],
    strict: true,
    exactOptionalPropertyTypes: true,
    noUncheckedIndexedAccess: true,
    verbatimModuleSyntax: true,
    isolatedModules: true,
    skipLibCheck: true,
  };
  await writeFile(
    join(project, 'tsconfig.json'),
    JSON.stringify({ compilerOptions, files: ['use.ts'] }),
  );
  await run(
    process.execPath,
    [join(root, 'node_modules/typescript/bin/tsc'), '-p', project],
    project,
  );
  const loaded = await run(
    process.execPath,
    [
      '--input-type=module',
      '-e',
      `${await readFile(join(project, 'use.js'), 'utf8')}
      console.log(JSON.stringify(all));`,
    ],
    project,
  );
  const exported = JSON.parse(loaded) as string[][];
  expect(exported).toHaveLength(names.length);
  for (const [index, found] of exported.entries()) expect(found, names[index]).not.toEqual([]);
});

test('nothing but what is needed is packed: no tests, no sources', async () => {
  const listed = await run('tar', ['-tzf', tarball], project);
  const files = listed
    .trim()
    .split('\n')
    .map((path) => path.replace(/^package\//, ''));
  const allowed =
    /^(package\.json|README\.md|LICENSE|CHANGELOG\.md|dist\/(src|sim)\/.*\.(js|d\.ts)|dist\/lab\/((index|cage)\.html|database\.bin|assets\/[\w.-]+\.(js|css|svg|wasm|data)))$/;
  expect(files.filter((path) => !allowed.test(path))).toEqual([]);
});

describe('the command', () => {
  const npx = (...args: string[]): Promise<string> =>
    run('npx', ['--no-install', 'sume-sim', ...args], project);

  test('lists what there is', async () => {
    expect(await npx('list')).toContain('stale-poll');
  });

  test('runs a scenario, and the run replays', async () => {
    const first = JSON.parse(await npx('run', 'early-webhook', '--json')) as {
      verdict: string;
      token: string;
    };
    expect(first.verdict).toBe('pass');
    expect(JSON.parse(await npx('replay', first.token, '--json'))).toEqual({ ...first });
  });
});

describe("an integration of one's own", () => {
  const source = `export default {
    setup: async ({ pool }) => { await pool.query('create table videos (job text primary key, state text)'); },
    start: ({ pool }) => ({
      submit: async () => { await pool.query("insert into videos values ('x', 'queued') on conflict do nothing"); },
      handleWebhook: () => new Response(),
    }),
    readJob: async (job, { pool }) => (await pool.query('select state as status from videos where job = $1', [job])).rows[0],
  };`;

  test('is taken from a file', async () => {
    await writeFile(join(project, 'mine.mjs'), source);
    const args = ['run', 'early-webhook', '--seed', '1', '--integration', './mine.mjs', '--json'];
    const printed = await run('npx', ['--no-install', 'sume-sim', ...args], project);
    expect(JSON.parse(printed)).toMatchObject({ integration: 'mine.mjs', verdict: 'pass' });
  });

  test('may be TypeScript, or the missing loader is named', async () => {
    await writeFile(join(project, 'mine.ts'), source);
    const args = ['run', 'early-webhook', '--seed', '1', '--integration', './mine.ts', '--json'];
    const outcome = await execute('npx', ['--no-install', 'sume-sim', ...args], {
      cwd: project,
    }).then(
      () => ({ code: 0, stderr: '' }),
      (error: unknown) => error as { code: number; stderr: string },
    );
    // Node tells since 22.18 that it reads TypeScript.
    if ('typescript' in process.features && process.features.typescript !== false) {
      expect(outcome.code).toBe(0);
    } else {
      expect(outcome.code).toBe(2);
      expect(outcome.stderr).toContain('npm install --save-dev tsx');
    }
  });
});

test('publint finds nothing to improve', async () => {
  await run('npx', ['--no-install', 'publint', '--strict', tarball], root);
});

test('the types resolve as the modules do', async () => {
  await run('npx', ['--no-install', 'attw', tarball, '--profile', 'esm-only'], root);
});
