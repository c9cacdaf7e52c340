import { describe, expect, test } from 'vitest';
import { InputError } from '../../src/errors.ts';
import { event, type Subject } from './subject.ts';

/** What must hold for a verified webhook, on any database. */
export function receiveContract(subject: Subject): void {
  describe('receiving the end of a job', () => {
    test('a registered job ends, with its result and the raw text as signed', async () => {
      const reconciler = subject.reconciler();
      await reconciler.register('job_1');
      subject.clock.advance(60_000);

      expect(await reconciler.receive(event('job_1'))).toBe('applied');
      expect(await reconciler.job('job_1')).toEqual({
        jobId: 'job_1',
        status: 'completed',
        rank: 2,
        result: { artifacts: [{ url: 'https://cdn.example/job_1.mp4' }] },
        error: null,
        body: event('job_1').body,
        correlationId: null,
        createdAt: new Date(subject.clock.now() - 60_000),
        updatedAt: new Date(subject.clock.now()),
        terminalAt: new Date(subject.clock.now()),
        checkedAt: null,
      });
    });

    test('a failed job keeps its error and has no result', async () => {
      const reconciler = subject.reconciler();
      await reconciler.register('job_1');
      expect(await reconciler.receive(event('job_1', 'failed'))).toBe('applied');
      expect(await reconciler.job('job_1')).toMatchObject({
        status: 'failed',
        result: null,
        error: { code: 'render_failed', message: 'The render failed.' },
      });
    });

    test('a canceled job is canceled, not failed', async () => {
      const reconciler = subject.reconciler();
      await reconciler.register('job_1');
      await reconciler.receive(event('job_1', 'canceled'));
      expect(await reconciler.job('job_1')).toMatchObject({ status: 'canceled', rank: 2 });
    });

    test('the same event again is a duplicate and writes nothing', async () => {
      const reconciler = subject.reconciler();
      await reconciler.register('job_1');
      await reconciler.receive(event('job_1'));
      const before = await subject.rows('jobs');
      subject.clock.advance(30_000);
      expect(await reconciler.receive(event('job_1'))).toBe('duplicate');
      expect(await subject.rows('jobs')).toEqual(before);
    });

    test('another end of the job is a conflict and writes nothing', async () => {
      const reconciler = subject.reconciler();
      await reconciler.register('job_1');
      await reconciler.receive(event('job_1', 'failed'));
      const before = await subject.rows('jobs');
      expect(await reconciler.receive(event('job_1', 'completed'))).toBe('conflict');
      expect(await subject.rows('jobs')).toEqual(before);
    });

    test('an event for a job nobody registered is parked as it was signed', async () => {
      const reconciler = subject.reconciler();
      expect(await reconciler.receive(event('job_1'))).toBe('parked');
      expect(await subject.rows('jobs')).toEqual([]);
      expect(await subject.rows('parked')).toEqual([
        {
          job_id: 'job_1',
          event: 'job.completed',
          status: 'completed',
          body: event('job_1').body,
          received_at: new Date(subject.clock.now()),
          deliveries: 1,
        },
      ]);
    });

    test('a second event for a parked job is counted and replaces nothing, even another end', async () => {
      const reconciler = subject.reconciler();
      await reconciler.receive(event('job_1', 'completed'));
      const [first] = await subject.rows('parked');
      subject.clock.advance(30_000);
      expect(await reconciler.receive(event('job_1', 'completed'))).toBe('parked');
      expect(await reconciler.receive(event('job_1', 'failed'))).toBe('parked');
      expect(await subject.rows('parked')).toEqual([{ ...first, deliveries: 3 }]);
    });

    test('ids are opaque: case, spaces and SQL in them are part of the id', async () => {
      const reconciler = subject.reconciler();
      const ids = ['job_1', 'JOB_1', ' job_1', "'; drop table jobs; --", '😀', 'é', 'e\u0301'];
      for (const id of ids) expect(await reconciler.register(id)).toBe('registered');
      for (const id of ids) expect(await reconciler.receive(event(id))).toBe('applied');
      expect(await subject.rows('jobs')).toHaveLength(ids.length);
    });

    test('what cannot be an event is refused before the database is asked', async () => {
      const reconciler = subject.reconciler();
      for (const broken of [
        { ...event('job_1'), jobId: '' },
        { ...event('job_1'), jobId: 'x'.repeat(201) },
        { ...event('job_1'), jobId: 'nul\0' },
        { ...event('job_1'), status: 'failed' as const },
        { ...event('job_1'), event: 'job.paused' as 'job.failed' },
      ]) {
        await expect(reconciler.receive(broken)).rejects.toBeInstanceOf(InputError);
      }
      expect(await subject.rows('parked')).toEqual([]);
    });
  });

  describe('a result that jsonb cannot hold', () => {
    const bodies = (payload: string): string =>
      `{"event":"job.completed","job_id":"job_1","payload":${payload}}`;

    /** Both ways to the row: the job is there, or the event waits for it. */
    const endBoth = async (payload: string): Promise<unknown[]> => {
      const results: unknown[] = [];
      for (const early of [false, true]) {
        const jobId = early ? 'job_early' : 'job_known';
        const body = bodies(payload).replace('job_1', jobId);
        const value = (JSON.parse(body) as { payload: unknown }).payload;
        const reconciler = subject.reconciler();
        const arrives = (): Promise<string> =>
          reconciler.receive({
            event: 'job.completed',
            jobId,
            status: 'completed',
            body,
            result: value,
          });
        if (early) await arrives();
        await reconciler.register(jobId);
        if (!early) await arrives();
        const job = await reconciler.job(jobId);
        expect(job).toMatchObject({ status: 'completed', body });
        results.push(job?.result);
      }
      return results;
    };

    test('NUL and lone surrogates become U+FFFD, in keys and values', async () => {
      const stored = { 'a\uFFFD': ['\uFFFD', '\uFFFDx', '\\u0000', '😀'] };
      expect(
        await endBoth(String.raw`{"a\u0000":["\u0000","\ud83dx","\\u0000","\ud83d\ude00"]}`),
      ).toEqual([stored, stored]);
    });

    test('a number out of range leaves the result null and the raw text whole', async () => {
      expect(await endBoth('{"n":1e400}')).toEqual([null, null]);
      expect(await subject.rows('parked')).toEqual([]);
    });

    test.each([1_001, 20_000])(
      'nesting of %i levels leaves the result null and the raw text whole',
      async (depth) => {
        expect(await endBoth('['.repeat(depth) + ']'.repeat(depth))).toEqual([null, null]);
      },
    );

    test('nesting of 1,000 levels is stored', async () => {
      const [known, early] = await endBoth('['.repeat(1_000) + ']'.repeat(1_000));
      expect(known).not.toBeNull();
      expect(early).not.toBeNull();
    });
  });
}
