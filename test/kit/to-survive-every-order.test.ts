import { expect, test } from 'vitest';
import { toSurviveEveryOrder, type SurvivalOptions } from '../../sim/testing/index.ts';
import { sharedPglite } from '../setup/databases.ts';
import { integration as byChance } from './by-chance-file.ts';
import { integration as hono } from './hono-node-postgres.ts';
import { naive } from './naive.ts';

declare module 'vitest' {
  interface Matchers<T> {
    toSurviveEveryOrder: (options?: SurvivalOptions) => Promise<T>;
  }
}

expect.extend({ toSurviveEveryOrder });

test('passes for an integration that survives all of them', async () => {
  await expect(hono).toSurviveEveryOrder({ database: await sharedPglite() });
});

test('fails with the explained counterexample', async () => {
  const database = await sharedPglite();
  await expect(naive()).not.toSurviveEveryOrder({ scenario: 'stale-poll', database });
  const failing = expect(naive()).toSurviveEveryOrder({ scenario: 'stale-poll', database });
  await expect(failing).rejects.toThrow('What races');
});

test('fails where it was not every order', async () => {
  const failing = expect(hono).toSurviveEveryOrder({ runs: 2, database: await sharedPglite() });
  await expect(failing).rejects.toThrow('there are more orders');
});

test('does not take what cannot be judged for a failure that was wanted', async () => {
  const database = await sharedPglite();
  const waiting = naive({ readJob: () => Promise.reject(new Error('no such column')) });
  const wanted = expect(waiting).not.toSurviveEveryOrder({ database });
  await expect(wanted).rejects.toMatchObject({ code: 'reader_failed' });
});

test('does not take code that does otherwise each time for a failure that was wanted', async () => {
  const database = await sharedPglite();
  const wanted = expect(byChance).not.toSurviveEveryOrder({ scenario: 'stale-poll', database });
  await expect(wanted).rejects.toMatchObject({ code: 'not_judged' });
});
