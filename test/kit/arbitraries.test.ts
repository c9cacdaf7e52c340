import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createReconciler, createWebhookHandler, migrate } from '../../src/index.ts';
import { createSigner } from '../../sim/fake-sume/signing.ts';
import { faults, runSchedule, schedule, webhookBody } from '../../sim/testing/index.ts';
import { sharedPglite } from '../setup/databases.ts';
import { manualClock } from '../setup/manual-clock.ts';
import { integration as hono } from './hono-node-postgres.ts';
import { naive } from './naive.ts';

describe('schedule() and faults()', () => {
  test('find what is wrong, as an order that fast-check makes as small as it gets', async () => {
    const database = await sharedPglite();
    const integration = naive();
    const property = fc.asyncProperty(schedule({ departures: 3 }), async (departures) => {
      const { violations } = await runSchedule(integration, { departures, database });
      return violations.length === 0;
    });
    const { failed, counterexample } = await fc.check(property, { seed: 1, numRuns: 100 });
    expect(failed).toBe(true);
    // One departure suffices: the webhook before the answer to the submit.
    expect(counterexample?.[0]).toHaveLength(1);
  });

  test('accuse nothing that is right', async () => {
    const database = await sharedPglite();
    const kinds = new Set<string>();
    await fc.assert(
      fc.asyncProperty(schedule(), faults(), async (departures, picked) => {
        const run = await runSchedule(hono, {
          scenario: 'lost-answer',
          departures,
          faults: picked,
          database,
        });
        for (const { fault } of run.steps) if (fault !== null) kinds.add(fault);
        expect(run.violations).toEqual([]);
      }),
      { seed: 2, numRuns: 40 },
    );
    expect(kinds.size).toBeGreaterThan(0);
  });
});

describe('webhookBody()', () => {
  test('holds the nasty ones', () => {
    const texts = fc.sample(webhookBody(), { seed: 1, numRuns: 2_000 });
    for (const nasty of [/\\u0000/, /\\ud800/, /1e400/, /10{400}/, /\[{2000}/, /^\ufeff/, /^$/]) {
      expect(texts.some((text) => nasty.test(text))).toBe(true);
    }
  });

  test('is answered by the core whatever it holds, and never as if the database had failed', async () => {
    const database = await sharedPglite();
    const clock = manualClock();
    const prefix = 'nasty_';
    await migrate(database, { prefix });
    const reconciler = createReconciler({ database, clock, prefix });
    const handle = createWebhookHandler({ reconciler, secrets: 'whsec_test', clock });
    const signer = createSigner(['whsec_test']);
    const timestamp = Math.floor(clock.now() / 1000);
    try {
      await fc.assert(
        fc.asyncProperty(webhookBody(), async (body) => {
          const answer = await handle(
            new Request('https://app.example/webhook', {
              method: 'POST',
              body,
              headers: {
                'x-sume-signature': await signer.sign(timestamp, body),
                'x-sume-timestamp': String(timestamp),
              },
            }),
          );
          expect([200, 202, 204, 400]).toContain(answer.status);
        }),
        { seed: 3, numRuns: 150 },
      );
    } finally {
      await database.exec(`drop table ${prefix}jobs, ${prefix}parked`);
    }
  });
});
