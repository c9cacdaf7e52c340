import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { transformWithOxc } from 'vite';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { moduleGraph, modulesBelow } from './module-graph.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const execute = promisify(execFile);

const SOMEBODY_ELSE = JSON.stringify({ name: 'somebody-else', private: true, type: 'module' });
/** Without install scripts: machines that refuse them must get a working package too. */
const QUIETLY = [
  '--ignore-scripts',
  '--no-audit',
  '--no-fund',
  '--prefer-offline',
  // Whatever the npm that runs this suite was told: a failure has to say why.
  '--loglevel=error',
] as const;

/** On the oldest Node that the package names, too. */
const JEST = '30';

/** What a team writes, in Jest's own ES modules. */
const JEST_TESTS = `
  import { PGlite } from '@electric-sql/pglite';
  import { checkIntegration, toSurviveEveryOrder } from 'sume-sim/testing';
  import { naive, naiveHandlers, ONLY_ENDS } from './naive.js';

  expect.extend({ toSurviveEveryOrder });
  const scenario = 'stale-poll';
  let database;
  beforeAll(async () => {
    database = await PGlite.create();
  }, 60_000);
  afterAll(() => database.close());

  test('what only ends overwrite passes', () => {
    const start = (ports) => naiveHandlers(ports, ONLY_ENDS);
    return checkIntegration(naive({ start }), { scenario, runs: 5, database });
  }, 60_000);
  test('some order fails', () => checkIntegration(naive(), { scenario, runs: 50, database }), 60_000);
  test('every order', () => expect(naive()).toSurviveEveryOrder({ scenario, database }), 60_000);
  test('a wait of its own', () => {
    const start = (ports) => ({
      ...naiveHandlers(ports),
      poll: () => new Promise((resolve) => setTimeout(resolve, 1)),
    });
    return checkIntegration(naive({ start }), { scenario, runs: 50, database });
  }, 60_000);
`;

/** What `npm pack` says of a tarball; sizes in bytes. */
interface Packed {
  filename: string;
  size: number;
  unpackedSize: number;
  entryCount: number;
}

interface Manifest {
  name: string;
  version: string;
  engines: { node: string };
  exports: Record<string, unknown>;
  dependencies: Record<string, string>;
  peerDependencies: Record<string, string>;
}

/** A project of somebody else: empty but for the packed package, which is installed there. */
let project: string;
let tarball: string;
/** What the build printed. */
let said: string;

beforeAll(async () => {
  project = await mkdtemp(join(tmpdir(), 'sume-sim-package-'));
  const { stdout, stderr } = await execute('npm', ['run', '--silent', 'build'], { cwd: root });
  said = stdout + stderr;
  const packed = await run(
    'npm',
    ['pack', '--json', '--ignore-scripts', '--pack-destination', project],
    root,
  );
  const [{ filename, size, unpackedSize, entryCount }] = JSON.parse(packed) as [Packed];
  const megabytes = (bytes: number): string => `${(bytes / 1e6).toFixed(1)} MB`;
  console.log(
    `${filename}: ${megabytes(size)} packed, ${megabytes(unpackedSize)} in ${entryCount} files`,
  );
  tarball = join(project, filename);
  await writeFile(join(project, 'package.json'), SOMEBODY_ELSE);
  await run('npm', ['install', ...QUIETLY, tarball], project);
});

afterAll(() => rm(project, { recursive: true, force: true }));

/** Runs a program to its end, gives its stdout, and fails with all that it said. */
async function run(program: string, args: string[], cwd: string): Promise<string> {
  try {
    const options = { cwd, env: environment(), maxBuffer: 64 * 1024 * 1024 };
    const { stdout } = await execute(program, args, options);
    return stdout;
  } catch (error) {
    const { stdout = '', stderr = '' } = error as { stdout?: string; stderr?: string };
    throw new Error(`${program} ${args.join(' ')} failed.\n${stdout}\n${stderr}`, { cause: error });
  }
}

/** The command keeps a prepared database: here, and not in the home of whoever runs the tests. */
function environment(): NodeJS.ProcessEnv {
  return { ...process.env, XDG_CACHE_HOME: join(project, 'cache') };
}

async function manifestIn(folder: string): Promise<Manifest> {
  return JSON.parse(await readFile(join(folder, 'package.json'), 'utf8')) as Manifest;
}

async function exportNames(): Promise<string[]> {
  const { name, exports } = await manifestIn(root);
  return Object.keys(exports)
    .filter((path) => path !== './package.json')
    .map((path) => name + path.slice(1));
}

test('the build has nothing to warn of', () => {
  expect(said).toBe('');
});

test('npm brings the MSW that this suite runs on', async () => {
  const major = async (folder: string): Promise<string | undefined> =>
    (await manifestIn(join(folder, 'node_modules/msw'))).version.split('.')[0];
  expect(await major(project)).toBe(await major(root));
});

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
    skipLibCheck: false,
  };
  await writeFile(
    join(project, 'tsconfig.json'),
    JSON.stringify({ compilerOptions, files: ['use.ts'] }),
  );
  const checked = await execute(
    process.execPath,
    [join(root, 'node_modules/typescript/bin/tsc'), '-p', project],
    { cwd: project },
  ).catch((failed: unknown) => failed as { stdout: string });
  // Some packages that this one needs have mistakes in their own declarations.
  const ofOthers = /^(\s|node_modules\/(?!sume-sim\/))/;
  expect(checked.stdout.split('\n').filter((line) => line !== '' && !ofOthers.test(line))).toEqual(
    [],
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
    /^(package\.json|README\.md|LICENSE|CHANGELOG\.md|sim\/fake-sume\/README\.md|dist\/(src|sim)\/.*\.(js|d\.ts)|dist\/lab\/((index|cage)\.html|database\.bin|assets\/[\w.-]+\.(js|css|svg|wasm|data)))$/;
  expect(files.filter((path) => !allowed.test(path))).toEqual([]);
});

describe('what is loaded', () => {
  const installed = (): string => join(project, 'node_modules/sume-sim');

  test.each(['./reconciler', './postgres'])('by %s is the core alone', async (path) => {
    const { exports } = await manifestIn(installed());
    const { default: entry } = exports[path] as { default: string };
    const { files, packages } = moduleGraph(installed(), [entry.replace('./', '')]);
    expect(packages).toEqual([]);
    expect(files.filter((file) => !file.startsWith('dist/src/'))).toEqual([]);
  });

  test('by any of it is a package that it says it needs, or Node', async () => {
    const { dependencies, peerDependencies } = await manifestIn(installed());
    const named = Object.keys({ ...dependencies, ...peerDependencies });
    const { packages } = moduleGraph(
      installed(),
      modulesBelow(installed(), 'dist/src', 'dist/sim'),
    );
    expect(packages.filter((name) => !name.startsWith('node:') && !named.includes(name))).toEqual(
      [],
    );
    expect(Object.keys(dependencies).filter((name) => !packages.includes(name))).toEqual([]);
  });
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

  test.each([
    ['serve', (where: { baseUrl: string }) => `${where.baseUrl}/health`],
    ['lab', (where: { url: string }) => `${where.url}database.bin`],
  ] as [string, (where: object) => string][])(
    '%s answers, and ends when it is told',
    async (name, address) => {
      const args = ['--no-install', 'sume-sim', name, '--port', '0', '--json'];
      // A group of its own, so that the signal reaches npx and the command alike, as Ctrl-C does.
      const child = spawn('npx', args, { cwd: project, env: environment(), detached: true });
      const ended = once(child, 'close');
      let told = '';
      child.stderr.on('data', (piece: Buffer) => (told += piece.toString()));
      try {
        const lines = createInterface(child.stdout)[Symbol.asyncIterator]();
        const first = (await lines.next()) as IteratorResult<string, undefined>;
        if (first.value === undefined) throw new Error(`It ended at once: ${told}`);
        const answer = await fetch(address(JSON.parse(first.value) as object));
        expect(answer.status).toBe(200);
        await answer.bytes();
      } finally {
        if (child.pid !== undefined && child.exitCode === null) process.kill(-child.pid, 'SIGINT');
        await ended;
      }
    },
  );

  test('installs without a complaint, and runs, on the oldest Node that the package names', async () => {
    const { engines } = await manifestIn(root);
    const oldest = /^>=(\d+\.\d+\.\d+)$/.exec(engines.node)?.[1];
    if (oldest === undefined) throw new Error(`engines.node is "${engines.node}".`);
    const folder = join(project, 'oldest');
    await mkdir(folder);
    await writeFile(join(folder, 'package.json'), SOMEBODY_ELSE);
    const script = [
      'node --version',
      `npm install --engine-strict ${QUIETLY.join(' ')} '${tarball}' >&2`,
      // By its path: npx within npx takes over the options of the outer one.
      'node_modules/.bin/sume-sim run early-webhook --seed 1 --json',
    ].join(' && ');
    const printed = await run(
      'npx',
      ['--yes', '--prefer-offline', '--package', `node@${oldest}`, '--call', script],
      folder,
    );
    const [version, result = ''] = printed.split('\n');
    expect(version).toBe(`v${oldest}`);
    expect(JSON.parse(result)).toMatchObject({ verdict: 'pass' });
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

test('the kit works in Jest: what passes, what fails, and a wait outside the ports', async () => {
  // Below the project, whose packages are found from here.
  const folder = join(project, 'jest');
  await mkdir(folder);
  await writeFile(join(folder, 'package.json'), SOMEBODY_ELSE);
  await run('npm', ['install', ...QUIETLY, `jest@${JEST}`], folder);
  const naive = join(root, 'test/kit/naive.ts');
  const { code } = await transformWithOxc(await readFile(naive, 'utf8'), naive);
  await writeFile(join(folder, 'naive.js'), code);
  await writeFile(join(folder, 'ours.test.js'), JEST_TESTS);
  const { stdout } = await execute('npx', ['--no-install', 'jest', '--json'], {
    cwd: folder,
    env: { ...process.env, NODE_OPTIONS: '--experimental-vm-modules' },
  }).catch((failed: unknown) => failed as { stdout: string });
  const [{ assertionResults: results }] = (
    JSON.parse(stdout) as {
      testResults: [{ assertionResults: { title: string; failureMessages: string[] }[] }];
    }
  ).testResults;
  const failures = Object.fromEntries(
    results.map(({ title, failureMessages }) => [
      title,
      failureMessages.join(' ').replaceAll(/\s+/g, ' '),
    ]),
  );
  expect(failures).toEqual({
    'what only ends overwrite passes': '',
    'some order fails': expect.stringContaining('✗ fail: rank-never-drops') as string,
    'every order': expect.stringContaining('What races') as string,
    'a wait of its own': expect.stringMatching(/used setTimeout .*ours\.test\.js/) as string,
  });
}, 240_000);

test('publint finds nothing to improve', async () => {
  await run('npx', ['--no-install', 'publint', '--strict', tarball], root);
});

test('the types resolve as the modules do', async () => {
  await run('npx', ['--no-install', 'attw', tarball, '--profile', 'esm-only'], root);
});
