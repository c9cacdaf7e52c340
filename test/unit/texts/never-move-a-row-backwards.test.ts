import { describe, expect, test } from 'vitest';
import { createWebhookHandler } from '../../../src/webhook.ts';
import { stubSume } from '../../contract/stub-sume.ts';
import { event, useSubject } from '../../contract/subject.ts';
import { signedDelivery } from '../../postgres/sign.ts';
import { sharedPglite } from '../../setup/databases.ts';

/*
 * "Sume webhook and status poll race: never move a job row backwards", scenario by scenario.
 *
 * Its script says that it prints 1 for the move that took effect and 0 for the stale one. It does not: its
 * `advance` inserts the row with the new rank and then updates where the rank is lower, so the very first move,
 * the one that creates the row, prints 0. Ours says `inserted` for the call that made the row, and never leaves
 * the caller to tell a fresh row from a stale answer by a count.
 */
describe('the race between a webhook and a status poll', () => {
  const subject = useSubject(async () => ({
    database: await sharedPglite(),
    close: () => Promise.resolve(),
  }));

  test('the script: processing, completed, and processing again, which is stale', async () => {
    const reconciler = subject.reconciler();
    expect(await reconciler.advance('job_1', 'processing', { insert: true })).toBe('inserted');
    expect(await reconciler.advance('job_1', 'completed', { insert: true })).toBe('applied');
    expect(await reconciler.advance('job_1', 'processing', { insert: true })).toBe('stale');
    expect(await reconciler.job('job_1')).toMatchObject({ status: 'completed' });
  });

  test('a poll that started before the terminal event and returns after it writes nothing', async () => {
    const reconciler = subject.reconciler();
    await reconciler.register('job_1');
    const sume = stubSume({ job_1: { word: 'processing' } });
    const slow = {
      ...sume,
      status: async (jobId: string) => {
        const answer = await sume.status(jobId);
        await reconciler.receive(event('job_1'));
        return answer;
      },
    };
    expect(await reconciler.poll('job_1', slow)).toBe('stale');
    expect(await reconciler.job('job_1')).toMatchObject({ status: 'completed' });
  });

  test('the first terminal write wins; a second, even a different one, changes nothing', async () => {
    const reconciler = subject.reconciler();
    await reconciler.register('job_1');
    expect(await reconciler.receive(event('job_1', 'canceled'))).toBe('applied');
    const before = await subject.rows('jobs');
    expect(await reconciler.receive(event('job_1', 'canceled'))).toBe('duplicate');
    expect(await reconciler.receive(event('job_1', 'completed'))).toBe('conflict');
    expect(await reconciler.advance('job_1', 'failed')).toBe('stale');
    expect(await subject.rows('jobs')).toEqual(before);
  });

  test('job_id is the idempotency key: ten attempts of one delivery are one move', async () => {
    let effects = 0;
    const reconciler = subject.reconciler({
      onTerminal: () => {
        effects += 1;
      },
    });
    await reconciler.register('job_1');
    const outcomes: string[] = [];
    for (let attempt = 0; attempt < 10; attempt += 1) {
      outcomes.push(await reconciler.receive(event('job_1')));
    }
    expect(outcomes).toEqual(['applied', ...Array.from({ length: 9 }, () => 'duplicate')]);
    expect(effects).toBe(1);
  });

  test('the signature is verified on the raw body before the table is touched', async () => {
    const reconciler = subject.reconciler();
    await reconciler.register('job_1');
    const before = await subject.rows('jobs');
    const handle = createWebhookHandler({ reconciler, secrets: 'right', clock: subject.clock });
    const { body } = event('job_1');
    expect((await handle(signedDelivery(body, 'wrong', subject.clock.now()))).status).toBe(401);
    expect(await subject.rows('jobs')).toEqual(before);
    // The raw bytes are what was signed: the body is valid JSON, but not as JSON.stringify would write it.
    expect(body).not.toBe(JSON.stringify(JSON.parse(body)));
    expect((await handle(signedDelivery(body, 'right', subject.clock.now()))).status).toBe(200);
  });

  test('the result is never fetched from a poll that reported processing', async () => {
    const reconciler = subject.reconciler();
    await reconciler.register('job_1');
    const sume = stubSume({ job_1: { word: 'processing' } });
    await reconciler.poll('job_1', sume);
    expect(sume.asked).toEqual(['status job_1']);
    sume.jobs['job_1'] = { word: 'completed', result: { artifacts: [] } };
    await reconciler.poll('job_1', sume);
    expect(sume.asked).toEqual(['status job_1', 'status job_1', 'result job_1']);
  });

  test('if a webhook never arrives, the next poll closes the gap', async () => {
    const reconciler = subject.reconciler();
    await reconciler.register('job_1');
    const sume = stubSume({ job_1: { word: 'completed', result: { artifacts: [{ url: 'u' }] } } });
    expect(await reconciler.poll('job_1', sume)).toBe('applied');
    expect(await reconciler.job('job_1')).toMatchObject({
      status: 'completed',
      result: { artifacts: [{ url: 'u' }] },
    });
  });
});
