import { describe, expect, test } from 'vitest';
import { InputError } from '../../src/errors.ts';
import type { JobStatus } from '../../src/status.ts';
import { event, type Subject } from './subject.ts';

/** What must hold for what a poll saw, on any database. */
export function advanceContract(subject: Subject): void {
  const result = { artifacts: [{ url: 'https://cdn.example/a.mp4' }] };

  describe('advancing a job to what a poll saw', () => {
    const forward: readonly [JobStatus, JobStatus][] = [
      ['queued', 'processing'],
      ['queued', 'completed'],
      ['processing', 'completed'],
      ['processing', 'failed'],
      ['processing', 'canceled'],
      ['queued', 'expired'],
    ];
    test.each(forward)('%s goes forward to %s', async (from, to) => {
      const reconciler = subject.reconciler();
      await reconciler.advance('job_1', from, { insert: true });
      subject.clock.advance(5_000);
      expect(await reconciler.advance('job_1', to)).toBe('applied');
      const ended = to !== 'processing';
      expect(await reconciler.job('job_1')).toMatchObject({
        status: to,
        rank: ended ? 2 : 1,
        updatedAt: new Date(subject.clock.now()),
        terminalAt: ended ? new Date(subject.clock.now()) : null,
      });
    });

    const still: readonly [JobStatus, JobStatus][] = [
      ['completed', 'processing'],
      ['completed', 'queued'],
      ['failed', 'completed'],
      ['expired', 'canceled'],
      ['processing', 'queued'],
      ['processing', 'processing'],
      ['queued', 'queued'],
      ['completed', 'completed'],
    ];
    test.each(still)('%s never moves to %s', async (from, to) => {
      const reconciler = subject.reconciler();
      await reconciler.advance('job_1', from, { insert: true });
      const before = await subject.rows('jobs');
      subject.clock.advance(5_000);
      expect(await reconciler.advance('job_1', to)).toBe('stale');
      expect(await reconciler.advance('job_1', to, { insert: true })).toBe('stale');
      expect(await subject.rows('jobs')).toEqual(before);
    });

    test('a job nobody registered is unknown, and stays so', async () => {
      const reconciler = subject.reconciler();
      for (const status of ['queued', 'processing', 'completed'] as const) {
        expect(await reconciler.advance('job_1', status)).toBe('unknown_job');
      }
      expect(await subject.rows('jobs')).toEqual([]);
    });

    test.each(['queued', 'processing', 'completed'] as const)(
      'with insert it makes the row, at %s, and says so',
      async (status) => {
        const reconciler = subject.reconciler();
        expect(await reconciler.advance('job_1', status, { insert: true })).toBe('inserted');
        expect(await reconciler.job('job_1')).toMatchObject({ status });
      },
    );

    test('with insert a parked end of the job wins over what the poll saw', async () => {
      const reconciler = subject.reconciler();
      await reconciler.receive(event('job_1', 'failed'));
      expect(await reconciler.advance('job_1', 'processing', { insert: true })).toBe('inserted');
      await reconciler.receive(event('job_2', 'failed'));
      expect(await reconciler.advance('job_2', 'completed', { insert: true, result })).toBe(
        'inserted',
      );
      expect(await reconciler.job('job_1')).toMatchObject({ status: 'failed' });
      expect(await reconciler.job('job_2')).toMatchObject({ status: 'failed', result: null });
      expect(await subject.rows('parked')).toEqual([]);
    });

    test('without insert a parked event is left where it is', async () => {
      const reconciler = subject.reconciler();
      await reconciler.receive(event('job_1'));
      expect(await reconciler.advance('job_1', 'completed')).toBe('unknown_job');
      expect(await subject.rows('parked')).toHaveLength(1);
    });

    test('a result or error without an end of the job, or a word that is no status, is refused', async () => {
      const reconciler = subject.reconciler();
      await reconciler.register('job_1');
      await expect(reconciler.advance('job_1', 'processing', { result })).rejects.toBeInstanceOf(
        InputError,
      );
      await expect(reconciler.advance('job_1', 'running' as JobStatus)).rejects.toBeInstanceOf(
        InputError,
      );
      await expect(reconciler.advance('job_1', 'constructor' as JobStatus)).rejects.toBeInstanceOf(
        InputError,
      );
      expect(await reconciler.job('job_1')).toMatchObject({ status: 'queued' });
    });
  });

  describe('later news of the same end', () => {
    test('a webhook fills the result that a poll could not read, once', async () => {
      const reconciler = subject.reconciler();
      await reconciler.advance('job_1', 'completed', { insert: true });
      const [before] = await subject.rows('jobs');
      subject.clock.advance(5_000);
      expect(await reconciler.receive(event('job_1', 'completed', 'https://cdn.example/1'))).toBe(
        'duplicate',
      );
      expect(await reconciler.receive(event('job_1', 'completed', 'https://cdn.example/2'))).toBe(
        'duplicate',
      );
      expect(await subject.rows('jobs')).toEqual([
        {
          ...before,
          result: { artifacts: [{ url: 'https://cdn.example/1' }] },
          body: event('job_1', 'completed', 'https://cdn.example/1').body,
        },
      ]);
    });

    test('a poll fills a null result, and is stale all the same', async () => {
      const reconciler = subject.reconciler();
      await reconciler.advance('job_1', 'completed', { insert: true });
      expect(await reconciler.advance('job_1', 'completed', { result })).toBe('stale');
      expect(await reconciler.advance('job_1', 'completed', { result: { artifacts: [] } })).toBe(
        'stale',
      );
      expect(await reconciler.job('job_1')).toMatchObject({ result });
    });

    test('a webhook fills the error that a poll did not see', async () => {
      const reconciler = subject.reconciler();
      await reconciler.advance('job_1', 'failed', { insert: true });
      expect(await reconciler.receive(event('job_1', 'failed'))).toBe('duplicate');
      expect(await reconciler.job('job_1')).toMatchObject({
        error: { code: 'render_failed', message: 'The render failed.' },
        body: event('job_1', 'failed').body,
      });
    });

    test('what is missing is filled, and what is there stays', async () => {
      const reconciler = subject.reconciler();
      const error = { code: 'partial', message: 'One of two.' };
      await reconciler.advance('job_1', 'failed', { insert: true, result });
      expect(await reconciler.advance('job_1', 'failed', { error })).toBe('stale');
      expect(await reconciler.job('job_1')).toMatchObject({ result, error });
    });

    test('another end fills nothing', async () => {
      const reconciler = subject.reconciler();
      await reconciler.advance('job_1', 'canceled', { insert: true });
      const before = await subject.rows('jobs');
      expect(await reconciler.receive(event('job_1', 'completed'))).toBe('conflict');
      expect(await reconciler.advance('job_1', 'completed', { result })).toBe('stale');
      expect(await subject.rows('jobs')).toEqual(before);
    });

    test('the raw text of an answer is kept only where its result could not be', async () => {
      const reconciler = subject.reconciler();
      const refused = { n: Number.POSITIVE_INFINITY };
      await reconciler.advance('job_1', 'completed', { insert: true, result, body: 'raw' });
      await reconciler.advance('job_2', 'completed', {
        insert: true,
        result: refused,
        body: 'raw',
      });
      await reconciler.advance('job_3', 'completed', { insert: true });
      await reconciler.advance('job_3', 'completed', { result: refused, body: 'raw\0' });
      expect(await reconciler.job('job_1')).toMatchObject({ result, body: null });
      expect(await reconciler.job('job_2')).toMatchObject({ result: null, body: 'raw' });
      expect(await reconciler.job('job_3')).toMatchObject({ result: null, body: 'raw\uFFFD' });
    });
  });
}
