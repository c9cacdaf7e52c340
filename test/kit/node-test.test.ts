import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, inject, test } from 'vitest';

test('the kit works in the test runner of Node', async () => {
  const program = fileURLToPath(new URL('node-test-program.ts', import.meta.url));
  const { NODE_OPTIONS: _options, ...env } = process.env;
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ['--import', 'tsx', '--test', '--test-reporter=tap', program],
    { env: { ...env, PGLITE_TEMPLATE: inject('pgliteTemplate') } },
  );
  expect(stdout).toMatch(/# pass 1\n# fail 0/);
});
