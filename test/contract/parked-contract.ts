import { describe, expect, test } from 'vitest';
import { event, type Subject } from './subject.ts';

/** What must hold for events that wait, on any database. */
export function parkedContract(subject: Subject): void {
  describe('events that wait for their job', () => {
    test('nothing waits at first', async () => {
      expect(await subject.reconciler().parked()).toEqual({
        count: 0,
        oldestAgeMs: null,
        rows: [],
      });
    });

    test('they are counted, with the age of the oldest to alert on, the oldest first', async () => {
      const reconciler = subject.reconciler();
      await reconciler.receive(event('job_b'));
      subject.clock.advance(60_000);
      await reconciler.receive(event('job_a', 'failed'));
      await reconciler.receive(event('job_b'));
      subject.clock.advance(1_500);
      expect(await reconciler.parked()).toEqual({
        count: 2,
        oldestAgeMs: 61_500,
        rows: [
          {
            jobId: 'job_b',
            event: 'job.completed',
            status: 'completed',
            receivedAt: new Date(subject.clock.now() - 61_500),
            deliveries: 2,
          },
          {
            jobId: 'job_a',
            event: 'job.failed',
            status: 'failed',
            receivedAt: new Date(subject.clock.now() - 1_500),
            deliveries: 1,
          },
        ],
      });
      const oldest = await reconciler.parked({ limit: 1 });
      expect(oldest.count).toBe(2);
      expect(oldest.rows.map((row) => row.jobId)).toEqual(['job_b']);
    });

    test('an orphan that is adopted becomes a job, ended by its event', async () => {
      const reconciler = subject.reconciler();
      await reconciler.receive(event('job_1'));
      expect(await reconciler.adopt('job_1', { correlationId: 'order_7' })).toBe('reconciled');
      expect(await reconciler.adopt('job_1')).toBe('known');
      expect(await reconciler.job('job_1')).toMatchObject({
        status: 'completed',
        correlationId: 'order_7',
      });
    });

    test('an orphan that is dismissed is gone; one that is not there is unknown', async () => {
      const reconciler = subject.reconciler();
      await reconciler.receive(event('job_1'));
      expect(await reconciler.dismiss('job_1')).toBe('dismissed');
      expect(await reconciler.dismiss('job_1')).toBe('unknown');
      expect(await reconciler.register('job_1')).toBe('registered');
      expect(await reconciler.job('job_1')).toMatchObject({ status: 'queued' });
    });
  });
}
