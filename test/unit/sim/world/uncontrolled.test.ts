import { readFile } from 'node:fs/promises';
import { setTimeout as wait } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { onTheCore } from '../../../../sim/integrations/core-parts.ts';
import type { Handlers } from '../../../../sim/world/integration.ts';
import type { Run } from '../../../../sim/world/run.ts';
import { scenarios } from '../../../../sim/world/scenarios.ts';
import { createSimulator } from '../../../../sim/world/simulator.ts';
import { sharedPglite } from '../../../setup/databases.ts';

/** Runs the stale poll with a poll that does this first, and then what it should. */
async function runWithPoll(before: () => unknown, seed = 1): Promise<Run> {
  const scenario = scenarios.find(({ name }) => name === 'stale-poll');
  if (scenario === undefined) throw new Error('No such scenario.');
  const integration = onTheCore({
    name: 'uncontrolled',
    text: 'Waits for something before it polls.',
    handlers: ({ reconciler, client }): Partial<Handlers> => ({
      poll: async (jobId) => {
        await before();
        await reconciler.poll(jobId, client, { insert: true });
      },
    }),
  });
  const simulator = await createSimulator({
    scenario,
    integration,
    database: await sharedPglite(),
  });
  return simulator.run({ seed });
}

describe('an integration that awaits what is no port', () => {
  const waits: Readonly<Record<string, () => unknown>> = {
    setTimeout: () => new Promise((resolve) => setTimeout(resolve, 1)),
    setImmediate: () => new Promise((resolve) => setImmediate(resolve)),
    'AbortSignal.timeout': () => AbortSignal.timeout(1),
    'the global fetch': () => fetch('https://example.com/'),
  };
  for (const [what, before] of Object.entries(waits)) {
    it(`is told at once that it used ${what}, by which task and where`, async () => {
      const run = await runWithPoll(before);
      expect(run.verdict).toBe('error');
      expect(run.error?.code).toBe('uncontrolled_await');
      expect(run.error?.message).toContain(what);
      expect(run.error?.message).toContain('poll/job_a/');
      expect(run.error?.message).toContain('uncontrolled.test.ts');
    });
  }

  it('is never judged when the wait leaves the process unseen', async () => {
    for (const before of [() => wait(1), () => readFile(import.meta.filename)]) {
      const run = await runWithPoll(before);
      expect(run.verdict).toBe('error');
      expect(['uncontrolled_await', 'blocked_task']).toContain(run.error?.code);
    }
  });

  it('is told which task waits for ever, and after which step', async () => {
    const run = await runWithPoll(() => new Promise(() => {}));
    expect(run.verdict).toBe('error');
    expect(run.error?.code).toBe('blocked_task');
    expect(run.error?.message).toContain('poll/job_a/1');
  });

  it('leaves the globals as they were', async () => {
    const names = ['setTimeout', 'setInterval', 'setImmediate', 'fetch'] as const;
    const seen = (): unknown[] => [
      ...names.map((name) => globalThis[name]),
      Object.getOwnPropertyDescriptor(AbortSignal, 'timeout')?.value,
      Object.getOwnPropertyDescriptor(SubtleCrypto.prototype, 'sign')?.value,
    ];
    const before = seen();
    await runWithPoll(() => new Promise((resolve) => setTimeout(resolve, 1)));
    expect(seen()).toEqual(before);
  });
});

describe('an integration that shares a lock between its tasks in one process', () => {
  it('is explored like any other, and the steps stay with the task that takes them', async () => {
    for (let seed = 1; seed <= 20; seed += 1) {
      let last: Promise<unknown> = Promise.resolve();
      const scenario = scenarios.find(({ name }) => name === 'stale-poll');
      if (scenario === undefined) throw new Error('No such scenario.');
      const integration = onTheCore({
        name: 'lock-in-process',
        text: 'Polls one at a time.',
        handlers: ({ reconciler, client }): Partial<Handlers> => ({
          poll: async (jobId) => {
            const mine = last.then(() => reconciler.poll(jobId, client, { insert: true }));
            last = mine.catch(() => {});
            await mine;
          },
        }),
      });
      const simulator = await createSimulator({
        scenario: { ...scenario, polls: 2 },
        integration,
        database: await sharedPglite(),
      });
      const run = await simulator.run({ seed });
      expect(run.error).toBeUndefined();
      expect(run.verdict).toBe('pass');
      const polls = run.steps.filter(({ actor }) => actor === 'poller').map(({ task }) => task);
      expect(new Set(polls)).toEqual(new Set(['poll/job_a/1', 'poll/job_a/2']));
      // One at a time: the second begins only when the first has taken its last step.
      expect(polls).toEqual(polls.toSorted());
    }
  });
});

describe('a call on the main handle inside its own transaction', () => {
  it('is an error by name, where it would wait for itself for ever', async () => {
    const scenario = scenarios.find(({ name }) => name === 'stale-poll');
    if (scenario === undefined) throw new Error('No such scenario.');
    let caught: unknown;
    const integration = onTheCore({
      name: 'nested-call',
      text: 'Uses the main handle inside a transaction.',
      handlers: ({ ports }): Partial<Handlers> => ({
        poll: async () => {
          await ports.database
            .transaction(() => ports.database.query('select 1'))
            .catch((error: unknown) => {
              caught = error;
            });
        },
      }),
    });
    const simulator = await createSimulator({
      scenario,
      integration,
      database: await sharedPglite(),
    });
    await simulator.run({ seed: 1 });
    expect((caught as { code?: string }).code).toBe('nested_call');
    expect(String(caught)).toContain('poll/job_a/');
  });
});
