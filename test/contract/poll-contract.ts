import { describe, expect, test } from 'vitest';
import { SumeApiError } from '../../src/errors.ts';
import { event, type Subject } from './subject.ts';
import { stubSume } from './stub-sume.ts';

/** What must hold for one look at Sume, on any database. */
export function pollContract(subject: Subject): void {
  const result = { artifacts: [{ url: 'https://cdn.example/a.mp4' }] };
  const notFound = new SumeApiError({
    request: 'GET /jobs/job_1/status',
    status: 404,
    apiCode: 'job_not_found',
    message: null,
    requestId: null,
    retryAfterMs: null,
  });

  describe('polling a job', () => {
    test('processing is written, and the result is not asked for', async () => {
      const reconciler = subject.reconciler();
      await reconciler.register('job_1');
      const sume = stubSume({ job_1: { word: 'IN_PROGRESS' } });
      expect(await reconciler.poll('job_1', sume)).toBe('applied');
      expect(await reconciler.job('job_1')).toMatchObject({ status: 'processing', result: null });
      expect(sume.asked).toEqual(['status job_1']);
    });

    test('a completed job is written with its result', async () => {
      const reconciler = subject.reconciler();
      await reconciler.register('job_1');
      const sume = stubSume({ job_1: { word: 'succeeded', result } });
      expect(await reconciler.poll('job_1', sume)).toBe('applied');
      expect(await reconciler.job('job_1')).toMatchObject({
        status: 'completed',
        result,
        body: null,
      });
      expect(sume.asked).toEqual(['status job_1', 'result job_1']);
    });

    test.each(['failed', 'canceled', 'expired'])(
      'a job that is %s has no result to ask for',
      async (word) => {
        const reconciler = subject.reconciler();
        await reconciler.register('job_1');
        const sume = stubSume({ job_1: { word } });
        expect(await reconciler.poll('job_1', sume)).toBe('applied');
        expect(await reconciler.job('job_1')).toMatchObject({ status: word });
        expect(sume.asked).toEqual(['status job_1']);
      },
    );

    test('a result that is ready before the status says so ends the job', async () => {
      const reconciler = subject.reconciler();
      await reconciler.register('job_1');
      const sume = stubSume({ job_1: { word: 'processing', resultReady: true, result } });
      expect(await reconciler.poll('job_1', sume)).toBe('applied');
      expect(await reconciler.job('job_1')).toMatchObject({ status: 'completed', result });
    });

    test('a result that is ready, but does not say completed, ends nothing', async () => {
      const reconciler = subject.reconciler();
      await reconciler.register('job_1');
      const sume = stubSume({
        job_1: { word: 'processing', resultReady: true, result, resultWord: 'IN_PROGRESS' },
      });
      expect(await reconciler.poll('job_1', sume)).toBe('applied');
      expect(await reconciler.job('job_1')).toMatchObject({ status: 'processing', result: null });
    });

    test('a result that cannot be read does not cost the status', async () => {
      const reconciler = subject.reconciler();
      await reconciler.register('job_1');
      const sume = stubSume({ job_1: { word: 'completed', result: new Error('502') } });
      expect(await reconciler.poll('job_1', sume)).toBe('applied');
      expect(await reconciler.job('job_1')).toMatchObject({
        status: 'completed',
        result: null,
        body: null,
      });
    });

    test('a word that is not known changes nothing', async () => {
      const reconciler = subject.reconciler();
      await reconciler.register('job_1');
      const before = await subject.rows('jobs');
      const sume = stubSume({ job_1: { word: 'archiving' }, job_2: { word: 'toString' } });
      expect(await reconciler.poll('job_1', sume)).toBe('unknown_status');
      expect(await reconciler.poll('job_2', sume, { insert: true })).toBe('unknown_status');
      expect(await subject.rows('jobs')).toEqual(before);
    });

    test('a status that cannot be read changes nothing, and the failure is told', async () => {
      const reconciler = subject.reconciler();
      await reconciler.register('job_1');
      const before = await subject.rows('jobs');
      const sume = stubSume({ job_1: { word: notFound } });
      await expect(reconciler.poll('job_1', sume)).rejects.toBe(notFound);
      expect(await subject.rows('jobs')).toEqual(before);
    });

    test('an answer that comes after the webhook is stale', async () => {
      const reconciler = subject.reconciler();
      await reconciler.register('job_1');
      await reconciler.receive(event('job_1'));
      expect(await reconciler.poll('job_1', stubSume({ job_1: { word: 'processing' } }))).toBe(
        'stale',
      );
      expect(await reconciler.job('job_1')).toMatchObject({ status: 'completed' });
    });

    test('with insert it makes the row', async () => {
      const reconciler = subject.reconciler();
      const sume = stubSume({ job_1: { word: 'completed', result } });
      expect(await reconciler.poll('job_1', sume)).toBe('unknown_job');
      expect(await reconciler.poll('job_1', sume, { insert: true })).toBe('inserted');
      expect(await reconciler.job('job_1')).toMatchObject({ status: 'completed', result });
    });
  });
}
