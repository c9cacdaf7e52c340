import { execFile } from 'node:child_process';
import { mkdtemp, readFile, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { vitestTest } from '../../../../sim/report/vitest-test.ts';
import { withSources } from '../../readme/with-sources.ts';
import { firstFailure, simulatorOf } from '../world/shipped.ts';

const root = fileURLToPath(new URL('../../../..', import.meta.url));

/** What Vitest says of one test. */
interface Result {
  title: string;
  status: 'passed' | 'failed';
  failureMessages: string[];
}

/** A project of somebody else, with our packages installed. */
let project: string;
beforeAll(async () => {
  project = await realpath(await mkdtemp(join(tmpdir(), 'sume-sim-pasted-')));
  await symlink(join(root, 'node_modules'), join(project, 'node_modules'));
});
afterAll(() => rm(project, { recursive: true, force: true }));

/** Runs Vitest on the files of the project, which may fail. */
async function runVitest(): Promise<Result[]> {
  const report = join(project, 'report.json');
  await promisify(execFile)(
    process.execPath,
    [
      join(root, 'node_modules/vitest/vitest.mjs'),
      'run',
      '--root',
      project,
      // One process for both files: half of the time is loading.
      '--maxWorkers=1',
      '--no-isolate',
      '--reporter=json',
      `--outputFile=${report}`,
    ],
    { cwd: project, env: { PATH: process.env['PATH'], PGLITE_TEMPLATE: inject('pgliteTemplate') } },
  ).catch(() => {});
  const { testResults } = JSON.parse(await readFile(report, 'utf8')) as {
    testResults: { message: string; assertionResults: Result[] }[];
  };
  expect(testResults.map(({ message }) => message).join('')).toBe('');
  return testResults.flatMap(({ assertionResults }) => assertionResults);
}

test('the pasted test fails while the mistake is there, and passes once it is mended', async () => {
  const simulator = await simulatorOf('early-webhook', 'look-then-park-autocommit');
  const smallest = await simulator.shrink(await firstFailure(simulator));
  const pasted = vitestTest(smallest.run, smallest);
  await writeFile(join(project, 'race.test.ts'), withSources(pasted));
  // Mended is the same integration with the mistake gone.
  const mended = pasted.replace("=== 'look-then-park-autocommit'", "=== 'guarded'");
  await writeFile(join(project, 'mended.test.ts'), withSources(mended));
  const results = await runVitest();
  expect(results.map(({ status }) => status).toSorted()).toEqual(['failed', 'passed']);
  const failed = results.find(({ status }) => status === 'failed');
  expect(failed?.title).toBe('look-then-park-autocommit keeps parked-drains in early-webhook');
  expect(failed?.failureMessages.join()).toContain('The row of job_a');
});
