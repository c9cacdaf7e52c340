import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

const root = fileURLToPath(new URL('../../../..', import.meta.url));
const readme = await readFile(join(root, 'sim/fake-sume/README.md'), 'utf8');
const run = promisify(execFile);

/** The text of the block that is marked so: "ts vitest". */
function block(mark: string): string {
  const found = new RegExp(`^\`\`\`${mark}\\n(.*?)^\`\`\`$`, 'ms').exec(readme)?.[1];
  if (found === undefined) throw new Error(`The README has no block marked "${mark}".`);
  return found;
}

/** The package's export as this repository's source, which needs no build. */
function withSource(program: string): string {
  const source = pathToFileURL(join(root, 'sim/fake-sume/index.ts')).href;
  return program.replaceAll("'sume-sim/fake-sume'", `'${source}'`);
}

describe('the programs of the fake’s README run as they stand', () => {
  let folder: string;
  beforeAll(async () => {
    // Within the repository, so that the packages which they import are found.
    folder = await mkdtemp(join(root, 'node_modules', '.sume-sim-fake-readme-'));
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  test('in Vitest', async () => {
    await writeFile(join(folder, 'webhook.test.ts'), withSource(block('ts vitest')));
    // By itself Vitest overlooks tests below node_modules.
    await writeFile(join(folder, 'vitest.config.mjs'), 'export default { test: { exclude: [] } };');
    const vitest = join(root, 'node_modules/vitest/vitest.mjs');
    const { stdout } = await run(process.execPath, [
      vitest,
      'run',
      '--root',
      folder,
      '--reporter=json',
    ]);
    expect(JSON.parse(stdout)).toMatchObject({ success: true, numPassedTests: 1 });
  });

  test('in Node’s own runner', async () => {
    const file = join(folder, 'webhook.mts');
    await writeFile(file, withSource(block('ts node')));
    // Named, because the default is another in each version of Node.
    const reporter = '--test-reporter=tap';
    const { stdout } = await run(process.execPath, ['--import', 'tsx', '--test', reporter, file], {
      cwd: root,
      // Node's runner would take itself for a child of the one that runs this test.
      env: { ...process.env, NODE_TEST_CONTEXT: undefined },
    });
    expect(stdout).toMatch(/^# pass 1$/m);
  });

  test('in a shell, against the command as it is shown', async () => {
    const [, ...args] = block('sh serve').trim().split(' ');
    expect(args.slice(0, 2)).toEqual(['sume-sim', 'serve']);
    const main = join(root, 'sim/cli/main.ts');
    const child: ChildProcess = spawn(
      process.execPath,
      ['--import', 'tsx', main, ...args.slice(1).map(anyPort), '--json'],
      { cwd: root, stdio: ['ignore', 'pipe', 'inherit'] },
    );
    try {
      if (child.stdout === null) throw new Error('The child has no stdout.');
      const [line] = (await once(createInterface(child.stdout), 'line')) as [string];
      const { port } = JSON.parse(line) as { port: number };
      const script = block('sh curl').replaceAll('4010', String(port));
      const { stdout } = await run('bash', ['-c', script]);
      expect(stdout.trim().replace(/"request_id":"[^"]+"/, '"request_id":"…"')).toBe(
        block('text curl').trim(),
      );
    } finally {
      child.kill();
      await once(child, 'close');
    }
  });
});

/** The port that the README names may be taken on this machine. */
function anyPort(arg: string): string {
  return arg === '4010' ? '0' : arg;
}
