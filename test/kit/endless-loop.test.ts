import { afterEach, expect, test, vi } from 'vitest';
import { checkIntegration, runSchedule, type Run } from '../../sim/testing/index.ts';
import { kitLoopWatch, lastWords } from '../../sim/testing/kit-loop-watch.ts';
import type { EndlessLoop, LoopWatch } from '../../sim/world/loop-watch.ts';
import { sharedPglite } from '../setup/databases.ts';
import { naive, naiveHandlers } from './naive.ts';

afterEach(() => vi.restoreAllMocks());

const LOOP: EndlessLoop = { seconds: 10, where: 'poll (sume.ts:1:1)' };

/** Sees what the watch is given, and when it is told that the work is done. */
function spy(): { soFar: Parameters<LoopWatch['begin']>[0] | undefined } {
  const seen: ReturnType<typeof spy> = { soFar: undefined };
  vi.spyOn(kitLoopWatch, 'begin').mockImplementation((soFar) => {
    seen.soFar = soFar;
    return () => {
      seen.soFar = undefined;
    };
  });
  return seen;
}

test('a loop ends with the schedule so far, and its token leads there again', async () => {
  const watch = spy();
  const met: Run[] = [];
  const integration = naive({
    start: (ports) => ({
      ...naiveHandlers(ports),
      poll: async () => {
        const run = watch.soFar?.(LOOP);
        if (run !== undefined) met.push(run);
      },
    }),
  });
  const database = await sharedPglite();
  const check = { scenario: 'stale-poll', runs: 3, seed: 5, database };
  await checkIntegration(integration, check).catch(() => {});
  const run = met.shift();
  expect(run).toMatchObject({
    verdict: 'fail',
    loop: { task: 'poll/job_a/1', where: LOOP.where },
    violations: [{ invariant: 'converges', step: run?.steps.length }],
  });
  const told = lastWords(LOOP, () => run as Run);
  expect(told.code).toBe(1);
  expect(told.texts[0]?.text).toContain(
    'The task poll/job_a/1 ran for 10 s without giving control',
  );
  expect(told.texts[0]?.text).toContain(
    `checkIntegration(integration, { replay: '${run?.token}' })`,
  );

  met.length = 0;
  await checkIntegration(integration, { ...check, replay: run?.token ?? '' }).catch(() => {});
  expect(met[0]).toEqual(run);
});

test('a property is watched too, setup before it, and nothing after it', async () => {
  const watch = spy();
  let inSetup: unknown;
  let inSubmit: unknown;
  const integration = naive({
    setup: async (database) => {
      inSetup = watch.soFar;
      await naive().setup(database);
    },
    start: (ports) => ({
      ...naiveHandlers(ports),
      submit: async () => {
        inSubmit = watch.soFar;
      },
    }),
  });
  await runSchedule(integration, { database: await sharedPglite() });
  expect(inSetup).toBeNull();
  expect(inSubmit).toBeTypeOf('function');
  expect(watch.soFar).toBeUndefined();
  expect(lastWords(LOOP, null)).toMatchObject({ texts: [{ to: 'stderr' }], code: 1 });
});
