import { expect, test } from 'vitest';
import { checkIntegration } from '../../sim/testing/index.ts';
import { sharedPglite } from '../setup/databases.ts';
import { integration } from './kysely.ts';

test('Kysely on tables of its own survives everything that happens', async () => {
  const { runs } = await checkIntegration(integration, {
    runs: 12,
    database: await sharedPglite(),
  });
  expect(runs).toBe(12);
});
