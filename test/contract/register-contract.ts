import { describe, expect, test } from 'vitest';
import { InputError, IsolationError } from '../../src/errors.ts';
import { event, type Subject } from './subject.ts';

/** What must hold when a submitted job is recorded, on any database. */
export function registerContract(subject: Subject): void {
  /** A transaction of the caller's own, at read committed whatever the session's default. */
  const inCallersTransaction = <T>(
    work: Parameters<typeof subject.database.transaction<T>>[0],
  ): Promise<T> =>
    subject.database.transaction(
      async (tx) => {
        if (subject.database.pinsIsolation !== true) {
          await tx.query('set transaction isolation level read committed');
        }
        return work(tx);
      },
      { isolation: 'read committed' },
    );

  describe('registering a job', () => {
    test('a new job is queued', async () => {
      const reconciler = subject.reconciler();
      expect(await reconciler.register('job_1', { correlationId: 'order_7' })).toBe('registered');
      expect(await reconciler.job('job_1')).toMatchObject({
        status: 'queued',
        rank: 0,
        correlationId: 'order_7',
        terminalAt: null,
      });
    });

    test('a job that was registered before is known, and keeps what it has', async () => {
      const reconciler = subject.reconciler();
      await reconciler.register('job_1', { correlationId: 'order_7' });
      await reconciler.receive(event('job_1'));
      const before = await subject.rows('jobs');
      subject.clock.advance(1_000);
      expect(await reconciler.register('job_1', { correlationId: 'order_8' })).toBe('known');
      expect(await subject.rows('jobs')).toEqual(before);
    });

    test('a row without a correlation id gets it later', async () => {
      const reconciler = subject.reconciler();
      await reconciler.advance('job_1', 'processing', { insert: true });
      expect(await reconciler.register('job_1', { correlationId: 'order_7' })).toBe('known');
      expect(await reconciler.job('job_1')).toMatchObject({
        status: 'processing',
        correlationId: 'order_7',
      });
    });

    test('two jobs may bear one correlation id: a re-submission is legitimate', async () => {
      const reconciler = subject.reconciler();
      await reconciler.register('job_1', { correlationId: 'order_7' });
      expect(await reconciler.register('job_2', { correlationId: 'order_7' })).toBe('registered');
    });

    test('an event that came first ends the job as it is registered, and is parked no more', async () => {
      const reconciler = subject.reconciler();
      await reconciler.receive(event('job_1'));
      expect(await reconciler.register('job_1', { correlationId: 'order_7' })).toBe('reconciled');
      expect(await subject.rows('parked')).toEqual([]);
      expect(await reconciler.job('job_1')).toMatchObject({
        status: 'completed',
        result: { artifacts: [{ url: 'https://cdn.example/job_1.mp4' }] },
        body: event('job_1').body,
        correlationId: 'order_7',
      });
      expect(await reconciler.receive(event('job_1'))).toBe('duplicate');
    });

    test('of two ends that were parked the first is applied', async () => {
      const reconciler = subject.reconciler();
      await reconciler.receive(event('job_1', 'failed'));
      await reconciler.receive(event('job_1', 'completed'));
      await reconciler.register('job_1');
      expect(await reconciler.job('job_1')).toMatchObject({ status: 'failed' });
    });

    test('an event stays parked while another job is registered', async () => {
      const reconciler = subject.reconciler();
      await reconciler.receive(event('job_1'));
      expect(await reconciler.register('job_2')).toBe('registered');
      expect(await subject.rows('parked')).toHaveLength(1);
    });

    test('bad ids and correlation ids are refused, and nothing is written', async () => {
      const reconciler = subject.reconciler();
      await expect(reconciler.register('')).rejects.toBeInstanceOf(InputError);
      await expect(reconciler.register('\ud800')).rejects.toBeInstanceOf(InputError);
      await expect(reconciler.register('job_1', { correlationId: 'a\0b' })).rejects.toBeInstanceOf(
        InputError,
      );
      expect(await subject.rows('jobs')).toEqual([]);
    });
  });

  describe("registering inside the caller's own transaction", () => {
    test('the job and the event that waited for it commit with the caller', async () => {
      const reconciler = subject.reconciler();
      await reconciler.receive(event('job_2'));
      const outcomes = await inCallersTransaction(async (tx) => [
        await reconciler.register('job_1', {}, tx),
        await reconciler.register('job_2', {}, tx),
        await reconciler.register('job_2', {}, tx),
      ]);
      expect(outcomes).toEqual(['registered', 'reconciled', 'known']);
      expect(await subject.rows('parked')).toEqual([]);
      expect(await reconciler.job('job_2')).toMatchObject({ status: 'completed' });
    });

    test('when the caller rolls back, the job is not there and the event still waits', async () => {
      const reconciler = subject.reconciler();
      await reconciler.receive(event('job_1'));
      const parked = await subject.rows('parked');
      const undo = new Error('the caller changed its mind');
      await expect(
        inCallersTransaction(async (tx) => {
          await reconciler.register('job_1', {}, tx);
          throw undo;
        }),
      ).rejects.toBe(undo);
      expect(await reconciler.job('job_1')).toBeNull();
      expect(await subject.rows('parked')).toEqual(parked);
    });

    test.each(['repeatable read', 'serializable'])(
      'at %s, where an event can be missed, it is refused and names both levels',
      async (level) => {
        const reconciler = subject.reconciler();
        const refused = await subject.database
          .transaction(async (tx) => {
            await tx.query(`set transaction isolation level ${level}`);
            await reconciler.register('job_1', {}, tx);
          })
          .catch((error: unknown) => error);
        expect(refused).toBeInstanceOf(IsolationError);
        expect(refused).toMatchObject({
          code: 'wrong_isolation',
          found: level,
          needed: 'read committed',
        });
        expect(await subject.rows('jobs')).toEqual([]);
      },
    );

    test('with serializable concurrency only serializable will do', async () => {
      const reconciler = subject.reconciler({ concurrency: 'serializable' });
      const registerAt = (level: string): Promise<string> =>
        subject.database.transaction(async (tx) => {
          await tx.query(`set transaction isolation level ${level}`);
          return reconciler.register('job_1', {}, tx);
        });
      await expect(registerAt('read committed')).rejects.toBeInstanceOf(IsolationError);
      expect(await registerAt('serializable')).toBe('registered');
    });

    test('a database in place of a transaction is refused', async () => {
      const reconciler = subject.reconciler();
      await expect(reconciler.register('job_1', {}, subject.database)).rejects.toBeInstanceOf(
        InputError,
      );
      expect(await subject.rows('jobs')).toEqual([]);
    });

    test("the caller's own lock_timeout is as it was afterwards", async () => {
      const reconciler = subject.reconciler({ lockTimeoutMs: 1_234 });
      const { rows } = await inCallersTransaction(async (tx) => {
        await tx.query(`set local lock_timeout = '77s'`);
        await reconciler.register('job_1', {}, tx);
        return tx.query('show lock_timeout');
      });
      expect(rows).toEqual([{ lock_timeout: '77s' }]);
    });

    test('a hook that throws leaves the transaction as it was, even if the caller commits it', async () => {
      const reconciler = subject.reconciler({
        onTerminal: () => Promise.reject(new Error('the hook failed')),
      });
      await reconciler.receive(event('job_1'));
      const parked = await subject.rows('parked');
      await inCallersTransaction(async (tx) => {
        await expect(reconciler.register('job_1', {}, tx)).rejects.toThrow('the hook failed');
      });
      expect(await reconciler.job('job_1')).toBeNull();
      expect(await subject.rows('parked')).toEqual(parked);
    });
  });
}
