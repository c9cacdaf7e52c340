import { describe, expect, test } from 'vitest';
import { SumeApiError, SumeUnreachableError } from '../../src/errors.ts';
import type { SweepOptions } from '../../src/sweeper.ts';
import { event, type Subject } from './subject.ts';
import { stubSume, type StubSume } from './stub-sume.ts';

/** What must hold for what closes the gaps, on any database. */
export function sweepContract(subject: Subject): void {
  const result = { artifacts: [{ url: 'https://cdn.example/a.mp4' }] };
  const MINUTE = 60_000;

  const policy = (client: StubSume, more: Partial<SweepOptions> = {}): SweepOptions => ({
    client,
    staleAfterMs: 10 * MINUTE,
    recheckMs: 2 * MINUTE,
    orphanAfterMs: 5 * MINUTE,
    ...more,
  });
  const apiError = (status: number, retryAfterMs: number | null = null): SumeApiError =>
    new SumeApiError({
      request: 'GET /jobs/…/status',
      status,
      apiCode: null,
      message: null,
      requestId: null,
      retryAfterMs,
    });

  describe('sweeping open jobs', () => {
    test('a job whose webhook never came is closed from the status route', async () => {
      const reconciler = subject.reconciler();
      await reconciler.register('job_1');
      await reconciler.register('job_2');
      const sume = stubSume({
        job_1: { word: 'completed', result },
        job_2: { word: 'expired' },
      });
      subject.clock.advance(10 * MINUTE);
      expect(await reconciler.sweep(policy(sume))).toEqual({
        rows: [
          {
            kind: 'stale',
            jobId: 'job_1',
            outcome: 'applied',
            word: 'completed',
            status: 'completed',
          },
          { kind: 'stale', jobId: 'job_2', outcome: 'applied', word: 'expired', status: 'expired' },
        ],
        retryAfterMs: null,
      });
      expect(await reconciler.job('job_1')).toMatchObject({ status: 'completed', result });
      expect(await reconciler.job('job_2')).toMatchObject({ status: 'expired' });
    });

    test('jobs that moved lately, and jobs that ended, are left alone', async () => {
      const reconciler = subject.reconciler();
      await reconciler.register('job_moved');
      await reconciler.register('job_ended');
      await reconciler.receive(event('job_ended'));
      subject.clock.advance(9 * MINUTE);
      await reconciler.advance('job_moved', 'processing');
      subject.clock.advance(9 * MINUTE);
      const sume = stubSume();
      expect((await reconciler.sweep(policy(sume))).rows).toEqual([]);
      expect(sume.asked).toEqual([]);
    });

    test('a row is asked about again only after recheckMs, and asking is not moving', async () => {
      const reconciler = subject.reconciler();
      await reconciler.register('job_1');
      const sume = stubSume({ job_1: { word: 'processing' } });
      subject.clock.advance(10 * MINUTE);
      await reconciler.sweep(policy(sume));
      await reconciler.advance('job_1', 'processing');
      const [row] = await subject.rows('jobs');
      subject.clock.advance(10 * MINUTE - 1);
      await reconciler.sweep(policy(sume));
      expect(await subject.rows('jobs')).toEqual([row]);
      subject.clock.advance(1);
      await reconciler.sweep(policy(sume));
      await reconciler.sweep(policy(sume));
      subject.clock.advance(2 * MINUTE - 1);
      await reconciler.sweep(policy(sume));
      expect(sume.asked).toEqual(['status job_1', 'status job_1']);
      subject.clock.advance(1);
      await reconciler.sweep(policy(sume));
      expect(sume.asked).toHaveLength(3);
      expect(await subject.rows('jobs')).toEqual([
        { ...row, checked_at: new Date(subject.clock.now()) },
      ]);
    });

    test('only what Sume reported is written: failures and unknown words change nothing', async () => {
      const reconciler = subject.reconciler();
      const answers = {
        job_404: apiError(404),
        job_500: apiError(500),
        job_html: new Error('HTML'),
        job_late: new SumeUnreachableError('late', { timedOut: true }),
        job_word: 'archiving',
      };
      for (const jobId of Object.keys(answers)) await reconciler.register(jobId);
      await reconciler.register('job_fine');
      subject.clock.advance(10 * MINUTE);
      const sume = stubSume({ job_fine: { word: 'failed' } });
      for (const [jobId, word] of Object.entries(answers)) sume.jobs[jobId] = { word };
      const { rows } = await reconciler.sweep(policy(sume));
      expect(Object.fromEntries(rows.map((row) => [row.jobId, row.outcome]))).toEqual({
        job_404: 'failed',
        job_500: 'failed',
        job_html: 'failed',
        job_late: 'failed',
        job_word: 'unknown_status',
        job_fine: 'applied',
      });
      expect(rows.find((row) => row.jobId === 'job_404')).toMatchObject({
        error: answers.job_404,
      });
      for (const jobId of Object.keys(answers)) {
        expect(await reconciler.job(jobId)).toMatchObject({ status: 'queued', rank: 0 });
      }
    });

    test("a hook that throws is that row's failure, and its job stays open", async () => {
      const reconciler = subject.reconciler({
        onTerminal: (job) => {
          if (job.jobId === 'job_1') throw new Error('the hook failed');
        },
      });
      await reconciler.register('job_1');
      await reconciler.register('job_2');
      subject.clock.advance(10 * MINUTE);
      const sume = stubSume({ job_1: { word: 'failed' }, job_2: { word: 'failed' } });
      const { rows } = await reconciler.sweep(policy(sume));
      expect(rows).toMatchObject([
        { jobId: 'job_1', outcome: 'failed', error: new Error('the hook failed') },
        { jobId: 'job_2', outcome: 'applied' },
      ]);
      expect(await reconciler.job('job_1')).toMatchObject({ status: 'queued' });
    });

    test('the oldest come first, at most limit of them, and the rest come next', async () => {
      const reconciler = subject.reconciler();
      for (const jobId of ['job_c', 'job_a', 'job_b']) {
        await reconciler.register(jobId);
        subject.clock.advance(1_000);
      }
      subject.clock.advance(10 * MINUTE);
      const sume = stubSume({ job_a: {}, job_b: {}, job_c: {} });
      await reconciler.sweep(policy(sume, { limit: 2 }));
      expect(sume.asked).toEqual(['status job_c', 'status job_a']);
      await reconciler.sweep(policy(sume, { limit: 2 }));
      expect(sume.asked).toEqual(['status job_c', 'status job_a', 'status job_b']);
    });

    test('sweepers that overlap ask about different rows', async () => {
      const reconciler = subject.reconciler();
      const ids = Array.from({ length: 12 }, (_, i) => `job_${i + 10}`);
      for (const jobId of ids) await reconciler.register(jobId);
      subject.clock.advance(10 * MINUTE);
      const sume = stubSume(Object.fromEntries(ids.map((jobId) => [jobId, {}])));
      await Promise.all(
        Array.from({ length: 4 }, () => reconciler.sweep(policy(sume, { limit: 3 }))),
      );
      expect(sume.asked.toSorted()).toEqual(ids.map((jobId) => `status ${jobId}`));
    });

    test('never more than concurrency requests run at a time', async () => {
      const reconciler = subject.reconciler();
      const ids = Array.from({ length: 9 }, (_, i) => `job_${i}`);
      for (const jobId of ids) await reconciler.register(jobId);
      subject.clock.advance(10 * MINUTE);
      const sume = stubSume(Object.fromEntries(ids.map((jobId) => [jobId, {}])));
      let running = 0;
      let most = 0;
      const counting: StubSume = {
        ...sume,
        status: async (jobId) => {
          running += 1;
          most = Math.max(most, running);
          await Promise.resolve();
          const answer = await sume.status(jobId);
          running -= 1;
          return answer;
        },
      };
      const { rows } = await reconciler.sweep(policy(counting, { concurrency: 3 }));
      expect(most).toBe(3);
      expect(rows.map((row) => row.jobId)).toEqual(ids);
    });
  });

  describe('when Sume asks to wait', () => {
    test('nothing more is asked, and none of these rows is due before the time is up', async () => {
      const reconciler = subject.reconciler();
      for (const jobId of ['job_1', 'job_2', 'job_3']) await reconciler.register(jobId);
      subject.clock.advance(10 * MINUTE);
      const sume = stubSume({
        job_1: { word: apiError(429, 7 * MINUTE) },
        job_2: { word: 'failed' },
        job_3: { word: 'failed' },
      });
      const report = await reconciler.sweep(policy(sume, { concurrency: 1 }));
      expect(report.retryAfterMs).toBe(7 * MINUTE);
      expect(report.rows.map((row) => row.outcome)).toEqual(['failed', 'deferred', 'deferred']);
      sume.jobs['job_1'] = { word: 'failed' };

      subject.clock.advance(7 * MINUTE - 1);
      expect((await reconciler.sweep(policy(sume))).rows).toEqual([]);
      expect(sume.asked).toEqual(['status job_1']);
      subject.clock.advance(1);
      const { rows } = await reconciler.sweep(policy(sume));
      expect(rows.map((row) => row.outcome)).toEqual(['applied', 'applied', 'applied']);
    });

    test('a wait shorter than recheckMs does not make the rows wait longer', async () => {
      const reconciler = subject.reconciler();
      await reconciler.register('job_1');
      subject.clock.advance(10 * MINUTE);
      const sume = stubSume({ job_1: { word: apiError(429, 1_000) } });
      await reconciler.sweep(policy(sume));
      subject.clock.advance(1_000);
      sume.jobs['job_1'] = { word: 'completed', result };
      const { rows } = await reconciler.sweep(policy(sume));
      expect(rows).toMatchObject([{ jobId: 'job_1', outcome: 'applied' }]);
    });

    test('an absurd wait is cut to an hour', async () => {
      const reconciler = subject.reconciler();
      await reconciler.register('job_1');
      subject.clock.advance(10 * MINUTE);
      const sume = stubSume({ job_1: { word: apiError(429, 999_999_999_000) } });
      expect((await reconciler.sweep(policy(sume))).retryAfterMs).toBe(60 * MINUTE);
      subject.clock.advance(60 * MINUTE);
      expect((await reconciler.sweep(policy(sume))).rows).toHaveLength(1);
    });

    test('orphans wait as well', async () => {
      const reconciler = subject.reconciler();
      await reconciler.register('job_1');
      await reconciler.receive(event('job_orphan'));
      subject.clock.advance(10 * MINUTE);
      const sume = stubSume({ job_1: { word: apiError(503, 1_000) } });
      const { rows } = await reconciler.sweep(policy(sume));
      expect(rows).toMatchObject([
        { kind: 'stale', outcome: 'failed' },
        { kind: 'orphan', jobId: 'job_orphan', outcome: 'deferred' },
      ]);
      expect(sume.asked).toEqual(['status job_1']);
    });
  });

  describe('a sweep that is ended early', () => {
    test('puts off what it did not come to, and what it was asking about; all of it is due at once', async () => {
      const reconciler = subject.reconciler();
      for (const jobId of ['job_1', 'job_2', 'job_3']) await reconciler.register(jobId);
      subject.clock.advance(10 * MINUTE);
      const sume = stubSume({ job_1: { word: 'failed' }, job_2: {}, job_3: {} });
      const stop = new AbortController();
      const stopping: StubSume = {
        ...sume,
        status: (jobId) => {
          if (jobId === 'job_1') return sume.status(jobId);
          stop.abort(new Error('shutting down'));
          return Promise.reject(stop.signal.reason as Error);
        },
      };
      const { rows } = await reconciler.sweep(
        policy(stopping, { concurrency: 1, signal: stop.signal }),
      );
      expect(rows.map((row) => row.outcome)).toEqual(['applied', 'deferred', 'deferred']);
      await reconciler.sweep(policy(sume));
      expect(sume.asked).toEqual(['status job_1', 'status job_2', 'status job_3']);
    });
  });

  describe('sweeping completed jobs without a result', () => {
    test('a result that could not be read is fetched again, once', async () => {
      const reconciler = subject.reconciler();
      await reconciler.register('job_1');
      const sume = stubSume({ job_1: { word: 'completed', result: new Error('502') } });
      subject.clock.advance(10 * MINUTE);
      const first = await reconciler.sweep(policy(sume));
      expect(first.rows).toMatchObject([
        { kind: 'stale', outcome: 'applied', resultError: new Error('502') },
      ]);
      await reconciler.sweep(policy(sume));
      subject.clock.advance(2 * MINUTE);
      sume.jobs['job_1'] = { word: 'completed', result };
      const second = await reconciler.sweep(policy(sume));
      expect(second.rows).toEqual([{ kind: 'result', jobId: 'job_1', outcome: 'filled' }]);
      subject.clock.advance(2 * MINUTE);
      expect((await reconciler.sweep(policy(sume))).rows).toEqual([]);
      expect(sume.asked).toEqual(['status job_1', 'result job_1', 'result job_1']);
      expect(await reconciler.job('job_1')).toMatchObject({ result, body: null });
    });

    test('what jsonb refuses goes to body, and is not fetched for ever', async () => {
      const reconciler = subject.reconciler();
      await reconciler.advance('job_1', 'completed', { insert: true });
      const sume = stubSume({ job_1: { result: { n: Number.POSITIVE_INFINITY } } });
      subject.clock.advance(2 * MINUTE);
      await reconciler.sweep(policy(sume));
      expect(await reconciler.job('job_1')).toMatchObject({
        result: null,
        body: 'raw result of job_1',
      });
      subject.clock.advance(2 * MINUTE);
      expect((await reconciler.sweep(policy(sume))).rows).toEqual([]);
    });

    test('a failed, canceled or expired job, or one whose webhook had no result, is not asked about', async () => {
      const reconciler = subject.reconciler();
      for (const status of ['failed', 'canceled', 'expired'] as const) {
        await reconciler.advance(`job_${status}`, status, { insert: true });
      }
      await reconciler.register('job_bare');
      await reconciler.receive({
        event: 'job.completed',
        jobId: 'job_bare',
        status: 'completed',
        body: '{"event":"job.completed","job_id":"job_bare"}',
      });
      subject.clock.advance(60 * MINUTE);
      expect((await reconciler.sweep(policy(stubSume()))).rows).toEqual([]);
    });
  });

  describe('sweeping parked events', () => {
    test('orphans are looked up and reported; what becomes of them is for the caller', async () => {
      const reconciler = subject.reconciler();
      await reconciler.receive(event('job_old'));
      subject.clock.advance(5 * MINUTE);
      await reconciler.receive(event('job_new'));
      const job = { id: 'job_old', type: 'avatar_video', status: 'completed' };
      const sume = stubSume({ job_old: { word: 'completed', job } });
      const { rows } = await reconciler.sweep(policy(sume));
      expect(rows).toEqual([
        {
          kind: 'orphan',
          jobId: 'job_old',
          outcome: 'found',
          job: { jobId: 'job_old', status: 'completed', job },
          parked: {
            jobId: 'job_old',
            event: 'job.completed',
            status: 'completed',
            receivedAt: new Date(subject.clock.now() - 5 * MINUTE),
            deliveries: 1,
          },
        },
      ]);
      expect(await subject.rows('jobs')).toEqual([]);
      expect(await subject.rows('parked')).toHaveLength(2);
    });

    test("an orphan that Sume does not know is that row's failure", async () => {
      const reconciler = subject.reconciler();
      await reconciler.receive(event('job_1'));
      subject.clock.advance(5 * MINUTE);
      const missing = apiError(404);
      const { rows } = await reconciler.sweep(policy(stubSume({ job_1: { job: missing } })));
      expect(rows).toMatchObject([{ kind: 'orphan', outcome: 'failed', error: missing }]);
      expect(await subject.rows('parked')).toHaveLength(1);
    });

    test('leftovers of other hands are drained: an event beside its own job', async () => {
      const reconciler = subject.reconciler();
      await reconciler.receive(event('job_open'));
      await reconciler.receive(event('job_ended'));
      await subject.database.query(
        `insert into ${subject.prefix}jobs (job_id, status, rank, created_at, updated_at)
         values ('job_open', 'processing', 1, $1::timestamptz, $1::timestamptz),
                ('job_ended', 'failed', 2, $1::timestamptz, $1::timestamptz)`,
        [new Date(subject.clock.now()).toISOString()],
      );
      const { rows } = await reconciler.sweep(policy(stubSume()));
      expect(rows).toEqual([
        { kind: 'leftover', jobId: 'job_ended', outcome: 'known' },
        { kind: 'leftover', jobId: 'job_open', outcome: 'reconciled' },
      ]);
      expect(await subject.rows('parked')).toEqual([]);
      expect(await reconciler.job('job_open')).toMatchObject({ status: 'completed' });
      expect(await reconciler.job('job_ended')).toMatchObject({ status: 'failed' });
    });
  });

  describe('sweeping in a loop', () => {
    test('it sweeps, waits, sweeps again, and ends with its signal', async () => {
      const reconciler = subject.reconciler();
      const stop = new AbortController();
      const reports: number[] = [];
      const ran = reconciler.run({
        ...policy(stubSume()),
        everyMs: 5_000,
        signal: stop.signal,
        onReport: (report) => {
          reports.push(report.rows.length);
        },
      });
      await until(() => subject.clock.sleeping === 1);
      expect(reports).toHaveLength(1);
      subject.clock.advance(4_999);
      expect(subject.clock.sleeping).toBe(1);
      subject.clock.advance(1);
      await until(() => reports.length === 2 && subject.clock.sleeping === 1);
      stop.abort();
      await ran;
      expect(subject.clock.sleeping).toBe(0);
    });

    test('a sweep that fails is told, and the loop goes on', async () => {
      const failure = new Error('the database is down');
      let failing = true;
      const { database } = subject;
      const reconciler = subject.reconciler({
        database: {
          query: (sql, params) => (failing ? Promise.reject(failure) : database.query(sql, params)),
          transaction: (work, options) => database.transaction(work, options),
          ...(database.pinsIsolation === true ? { pinsIsolation: true as const } : {}),
        },
      });
      const stop = new AbortController();
      const errors: unknown[] = [];
      let reports = 0;
      const ran = reconciler.run({
        ...policy(stubSume()),
        everyMs: 5_000,
        signal: stop.signal,
        onReport: () => {
          reports += 1;
        },
        onError: (error) => errors.push(error),
      });
      await until(() => subject.clock.sleeping === 1);
      failing = false;
      subject.clock.advance(5_000);
      await until(() => reports === 1);
      stop.abort();
      await ran;
      expect(errors).toEqual([failure]);
    });
  });
}

/** Waits, a turn of the event loop at a time, until the database's answers have brought something about. */
async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setImmediate(resolve));
}
