import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkIntegration } from '../../sim/testing/index.ts';
import { PGlite } from '../unit/readme/pglite-from-template.ts';
import { integration } from './hono-node-postgres.ts';
import { naive } from './naive.ts';

/** An example: the kit in Node's own test runner. Run by `node-test.test.ts`. */
void test('our integration survives lost answers', { timeout: 120_000 }, async () => {
  const database = await PGlite.create();
  await checkIntegration(integration, { scenario: 'lost-answer', runs: 5, database });
  await assert.rejects(checkIntegration(naive(), { scenario: 'stale-poll', database }), {
    code: 'invariant_violated',
  });
  await database.close();
});
