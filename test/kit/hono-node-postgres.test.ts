import { expect, test } from 'vitest';
import { checkIntegration } from '../../sim/testing/index.ts';
import { sharedPglite } from '../setup/databases.ts';
import { integration } from './hono-node-postgres.ts';

test('a Hono app on plain SQL survives everything that happens', async () => {
  const { runs } = await checkIntegration(integration, {
    runs: 12,
    database: await sharedPglite(),
  });
  expect(runs).toBe(12);
});
