import { describe, expect, test } from 'vitest';
import { stubSume } from '../../contract/stub-sume.ts';
import { event, useSubject } from '../../contract/subject.ts';
import { sharedPglite } from '../../setup/databases.ts';

/*
 * "A Sume webhook arrives before your database knows the job: park it", scenario by scenario.
 *
 * Two flaws of its script:
 * - `handle_event` looks for the job and parks in two steps, `on_submitted` inserts and looks for a parked event
 *   in two steps, and nothing keeps the four apart. In one process with one connection that is never seen; with
 *   two connections each can look before the other commits, and the event is stranded. The core takes a lock per
 *   job before it looks.
 * - Its guard is `state='open'`, and whatever that refuses it calls a duplicate: another end of the same job is
 *   reported as the same one. Here it is a `conflict`.
 */
describe('a webhook that arrives before the database knows the job', () => {
  const subject = useSubject(async () => ({
    database: await sharedPglite(),
    close: () => Promise.resolve(),
  }));

  test('early arrival: parked, then reconciled when the job id is saved, then a duplicate', async () => {
    const reconciler = subject.reconciler();
    expect(await reconciler.receive(event('job_early'))).toBe('parked');
    expect(await reconciler.register('job_early')).toBe('reconciled');
    expect(await reconciler.receive(event('job_early'))).toBe('duplicate');
  });

  test('normal: saved, then applied', async () => {
    const reconciler = subject.reconciler();
    expect(await reconciler.register('job_normal')).toBe('registered');
    expect(await reconciler.receive(event('job_normal'))).toBe('applied');
    expect(await reconciler.job('job_normal')).toMatchObject({ status: 'completed' });
  });

  test('duplicate: job_id is the handle, so the second delivery changes nothing', async () => {
    const reconciler = subject.reconciler();
    await reconciler.register('job_twice');
    expect(await reconciler.receive(event('job_twice'))).toBe('applied');
    const before = await subject.rows('jobs');
    expect(await reconciler.receive(event('job_twice'))).toBe('duplicate');
    expect(await subject.rows('jobs')).toEqual(before);
  });

  test('another end of the same job is told apart from a duplicate', async () => {
    const reconciler = subject.reconciler();
    await reconciler.register('job_1');
    await reconciler.receive(event('job_1', 'completed'));
    expect(await reconciler.receive(event('job_1', 'failed'))).toBe('conflict');
  });

  test('the verified event is stored as it was signed', async () => {
    await subject.reconciler().receive(event('job_1'));
    expect(await subject.rows('parked')).toMatchObject([{ body: event('job_1').body }]);
  });

  test('clean-up: a parked event is gone once it is applied', async () => {
    const reconciler = subject.reconciler();
    await reconciler.receive(event('job_1'));
    await reconciler.register('job_1');
    expect(await subject.rows('parked')).toEqual([]);
  });

  test('clean-up: parked ids older than a few minutes are looked up at Sume', async () => {
    const reconciler = subject.reconciler();
    await reconciler.receive(event('job_lost'));
    subject.clock.advance(5 * 60_000);
    const { rows } = await reconciler.sweep({
      client: stubSume({ job_lost: { word: 'completed', job: { id: 'job_lost' } } }),
      staleAfterMs: 60_000,
      recheckMs: 60_000,
      orphanAfterMs: 5 * 60_000,
    });
    expect(rows).toMatchObject([{ kind: 'orphan', jobId: 'job_lost', outcome: 'found' }]);
  });

  test('backstop: a dropped event is recovered from the status route', async () => {
    const reconciler = subject.reconciler();
    await reconciler.register('job_dropped');
    expect(
      await reconciler.poll('job_dropped', stubSume({ job_dropped: { word: 'canceled' } })),
    ).toBe('applied');
    expect(await reconciler.job('job_dropped')).toMatchObject({ status: 'canceled' });
  });
});
