import { describe, expect, test } from 'vitest';
import type { Reconciler } from '../../../src/reconciler.ts';
import { createWebhookHandler } from '../../../src/webhook.ts';
import { stubSume } from '../../contract/stub-sume.ts';
import { event, useSubject } from '../../contract/subject.ts';
import { signedDelivery } from '../../postgres/sign.ts';
import { sharedPglite } from '../../setup/databases.ts';

/*
 * "Webhook for an unknown job_id: park it, then reconcile on insert", scenario by scenario.
 *
 * Three flaws of its script, none of which its text asks for:
 * - `on_event` commits, and `register` calls it in the middle of its own transaction. A crash after that commit
 *   leaves a job that has ended beside the event that ended it. Here a drain commits once, with the insert.
 * - Its update has no guard: a retry, or a second event, overwrites the end that came first, although the text
 *   itself asks for a conditional write.
 * - Whatever is not `job.completed` becomes `failed`, a cancelled job too.
 * And like the third text it looks and parks without a lock: with two connections an event that looks before the
 * insert commits, and parks after the insert has looked, stays parked for ever.
 */
describe('a webhook for a job id that is not in the database', () => {
  const subject = useSubject(async () => ({
    database: await sharedPglite(),
    close: () => Promise.resolve(),
  }));
  const SECRET = 'whsec_test';

  const deliver = (reconciler: Reconciler, body: string): Promise<Response> =>
    createWebhookHandler({ reconciler, secrets: SECRET, clock: subject.clock })(
      signedDelivery(body, SECRET, subject.clock.now()),
    );

  test('the script: parked, registered, completed with its artifact', async () => {
    const reconciler = subject.reconciler();
    expect(await reconciler.receive(event('job_1', 'completed', 'https://cdn.example/a.mp4'))).toBe(
      'parked',
    );
    expect(await reconciler.register('job_1')).toBe('reconciled');
    expect(await reconciler.job('job_1')).toMatchObject({
      status: 'completed',
      result: { artifacts: [{ url: 'https://cdn.example/a.mp4' }] },
    });
    expect(await subject.rows('parked')).toEqual([]);
  });

  test('it is answered 2xx, not 404, and only once it is stored', async () => {
    const response = await deliver(subject.reconciler(), event('job_1').body);
    expect(response.status).toBe(202);
    expect(await response.json()).toEqual({ outcome: 'parked', job_id: 'job_1' });
    expect(await subject.rows('parked')).toHaveLength(1);
  });

  test('a store that fails is answered 5xx, so that Sume sends it again', async () => {
    const handle = createWebhookHandler({
      reconciler: { receive: () => Promise.reject(new Error('the database is down')) },
      secrets: SECRET,
      clock: subject.clock,
      onError: () => undefined,
    });
    const response = await handle(signedDelivery(event('job_1').body, SECRET, subject.clock.now()));
    expect(response.status).toBe(503);
  });

  test('a second delivery of a parked event overwrites nothing', async () => {
    const reconciler = subject.reconciler();
    await reconciler.receive(event('job_1', 'completed', 'https://cdn.example/first'));
    await reconciler.receive(event('job_1', 'completed', 'https://cdn.example/second'));
    await reconciler.register('job_1');
    expect(await reconciler.job('job_1')).toMatchObject({
      result: { artifacts: [{ url: 'https://cdn.example/first' }] },
    });
  });

  test('the worker that crashed between the POST and the INSERT: its retry with the key drains', async () => {
    const reconciler = subject.reconciler();
    await reconciler.receive(event('job_1'));
    // The same Idempotency-Key gave the same job back; this is the second insert.
    expect(await reconciler.register('job_1', { correlationId: 'order_7' })).toBe('reconciled');
  });

  test('the transaction that is still open: the event is drained by its commit', async () => {
    const reconciler = subject.reconciler();
    await reconciler.receive(event('job_1'));
    const outcome = await subject.database.transaction(async (tx) => {
      await tx.query('set transaction isolation level read committed');
      return reconciler.register('job_1', {}, tx);
    });
    expect(outcome).toBe('reconciled');
    expect(await subject.rows('parked')).toEqual([]);
  });

  test('a drain that is cut short leaves all as it was: no ended job beside its event', async () => {
    const crash = new Error('crash');
    const reconciler = subject.reconciler({ onTerminal: () => Promise.reject(crash) });
    await reconciler.receive(event('job_1'));
    await expect(reconciler.register('job_1')).rejects.toBe(crash);
    expect(await subject.rows('jobs')).toEqual([]);
    expect(await subject.rows('parked')).toHaveLength(1);
  });

  test('a cancelled job is canceled', async () => {
    const reconciler = subject.reconciler();
    await reconciler.receive(event('job_1', 'canceled'));
    await reconciler.register('job_1');
    expect(await reconciler.job('job_1')).toMatchObject({ status: 'canceled' });
  });

  test('orphans: alert on the age of the oldest, look the job up, then adopt it or leave it', async () => {
    const reconciler = subject.reconciler();
    await reconciler.receive(event('job_mine'));
    await reconciler.receive(event('job_other'));
    subject.clock.advance(5 * 60_000);
    expect(await reconciler.parked()).toMatchObject({ count: 2, oldestAgeMs: 5 * 60_000 });
    const sume = stubSume({
      job_mine: { word: 'completed', job: { id: 'job_mine', input: { order: 7 } } },
      job_other: { word: 'completed', job: { id: 'job_other', input: {} } },
    });
    const { rows } = await reconciler.sweep({
      client: sume,
      staleAfterMs: 60_000,
      recheckMs: 60_000,
      orphanAfterMs: 5 * 60_000,
    });
    expect(sume.asked).toEqual(['job job_mine', 'job job_other']);
    expect(rows.map((row) => [row.kind, row.jobId, row.outcome])).toEqual([
      ['orphan', 'job_mine', 'found'],
      ['orphan', 'job_other', 'found'],
    ]);
    expect(await reconciler.adopt('job_mine', { correlationId: 'order_7' })).toBe('reconciled');
    expect(await reconciler.dismiss('job_other')).toBe('dismissed');
    expect(await reconciler.parked()).toMatchObject({ count: 0 });
  });

  test("the id is Sume's; your correlation id stands beside it", async () => {
    const reconciler = subject.reconciler();
    await reconciler.register('job_1', { correlationId: 'order_7' });
    expect(await reconciler.receive(event('order_7'))).toBe('parked');
    expect(await reconciler.job('job_1')).toMatchObject({
      correlationId: 'order_7',
      status: 'queued',
    });
  });

  test('if the event never comes, a sweep writes the terminal state that the status route returns', async () => {
    const reconciler = subject.reconciler();
    await reconciler.register('job_1');
    subject.clock.advance(10 * 60_000);
    await reconciler.sweep({
      client: stubSume({ job_1: { word: 'failed' } }),
      staleAfterMs: 10 * 60_000,
      recheckMs: 60_000,
      orphanAfterMs: 60_000,
    });
    expect(await reconciler.job('job_1')).toMatchObject({ status: 'failed' });
  });

  test('the sweeper and the handler may both write the end: the second changes nothing', async () => {
    const reconciler = subject.reconciler();
    await reconciler.register('job_1');
    await reconciler.advance('job_1', 'failed', { error: { code: 'c', message: 'm' } });
    expect((await deliver(reconciler, event('job_1', 'completed').body)).status).toBe(200);
    expect(await reconciler.job('job_1')).toMatchObject({ status: 'failed', result: null });
  });

  test('an unknown event is 204 and not stored; an unknown job of a known event is parked', async () => {
    const reconciler = subject.reconciler();
    const unknown = await deliver(reconciler, '{"event":"job.archived","job_id":"job_1"}');
    expect(unknown.status).toBe(204);
    expect(await subject.rows('parked')).toEqual([]);
    expect((await deliver(reconciler, event('job_1').body)).status).toBe(202);
  });

  test('an unsigned request never reaches the parking table', async () => {
    const reconciler = subject.reconciler();
    const handle = createWebhookHandler({ reconciler, secrets: SECRET, clock: subject.clock });
    const unsigned = new Request('https://app.example/hooks/sume', {
      method: 'POST',
      body: event('job_1').body,
    });
    expect((await handle(unsigned)).status).toBe(401);
    expect(await subject.rows('parked')).toEqual([]);
  });
});
