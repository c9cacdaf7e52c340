import { describe, expect, test } from 'vitest';
import type { Reconciler } from '../../src/reconciler.ts';
import type { OnTerminal, TerminalJob } from '../../src/settle.ts';
import { event, type Subject } from './subject.ts';
import { stubSume } from './stub-sume.ts';

/** What must hold for the effect of a job's end, on any database. */
export function hookContract(subject: Subject): void {
  const result = { artifacts: [{ url: 'https://cdn.example/job_1.mp4' }] };

  /** A reconciler whose hook writes an effect through its transaction, and the effects that were committed. */
  const withEffects = async (
    also: OnTerminal = () => undefined,
  ): Promise<{
    reconciler: Reconciler;
    seen: TerminalJob[];
    effects: () => Promise<string[]>;
    drop: () => Promise<void>;
  }> => {
    const table = `${subject.prefix}effects`;
    await subject.database.query(`create table ${table} (id serial, job_id text not null)`);
    const seen: TerminalJob[] = [];
    const reconciler = subject.reconciler({
      onTerminal: async (job, tx) => {
        seen.push(job);
        await tx.query(`insert into ${table} (job_id) values ($1)`, [job.jobId]);
        await also(job, tx);
      },
    });
    return {
      reconciler,
      seen,
      effects: async () => {
        const { rows } = await subject.database.query<{ job_id: string }>(
          `select job_id from ${table} order by id`,
        );
        return rows.map((row) => row.job_id);
      },
      drop: async () => {
        await subject.database.query(`drop table ${table}`);
      },
    };
  };

  describe('the effect of the end of a job', () => {
    /** Every path on which a job can end. Each ends job_1. */
    const paths: readonly [string, (reconciler: Reconciler) => Promise<unknown>][] = [
      [
        'a webhook',
        async (reconciler) => {
          await reconciler.register('job_1', { correlationId: 'order_7' });
          return reconciler.receive(event('job_1'));
        },
      ],
      [
        'a drain at registration',
        async (reconciler) => {
          await reconciler.receive(event('job_1'));
          return reconciler.register('job_1', { correlationId: 'order_7' });
        },
      ],
      [
        'a poll',
        async (reconciler) => {
          await reconciler.register('job_1', { correlationId: 'order_7' });
          return reconciler.poll('job_1', stubSume({ job_1: { word: 'completed', result } }));
        },
      ],
      [
        'a sweep',
        async (reconciler) => {
          await reconciler.register('job_1', { correlationId: 'order_7' });
          return reconciler.sweep({
            client: stubSume({ job_1: { word: 'completed', result } }),
            staleAfterMs: 0,
            recheckMs: 0,
            orphanAfterMs: 0,
          });
        },
      ],
    ];

    test.each(paths)('happens once when %s ends it, and never again', async (_path, end) => {
      const { reconciler, seen, effects, drop } = await withEffects();
      await end(reconciler);
      await reconciler.receive(event('job_1'));
      await reconciler.receive(event('job_1', 'failed'));
      await reconciler.advance('job_1', 'completed', { result });
      await reconciler.register('job_1');
      await reconciler.advance('job_1', 'completed', { insert: true, result });
      expect(await effects()).toEqual(['job_1']);
      expect(seen).toEqual([
        {
          jobId: 'job_1',
          status: 'completed',
          result,
          error: null,
          correlationId: 'order_7',
          terminalAt: new Date(subject.clock.now()),
        },
      ]);
      await drop();
    });

    test('happens when an insert by a poll drains the event, and when it ends the job itself', async () => {
      const { reconciler, effects, drop } = await withEffects();
      await reconciler.receive(event('job_1', 'failed'));
      await reconciler.advance('job_1', 'completed', { insert: true });
      await reconciler.advance('job_2', 'expired', { insert: true });
      expect(await effects()).toEqual(['job_1', 'job_2']);
      await drop();
    });

    test('does not happen before the end, nor when a null result is filled', async () => {
      const { reconciler, effects, drop } = await withEffects();
      await reconciler.register('job_1');
      await reconciler.advance('job_1', 'processing');
      await reconciler.receive(event('job_2'));
      expect(await effects()).toEqual([]);
      await reconciler.advance('job_1', 'completed');
      await reconciler.receive(event('job_1'));
      expect(await effects()).toEqual(['job_1']);
      await drop();
    });

    test('a hook that throws undoes the end of the job, and the next try has both', async () => {
      let broken = true;
      const { reconciler, effects, drop } = await withEffects(() => {
        if (broken) throw new Error('the hook failed');
      });
      await reconciler.register('job_1');
      await reconciler.receive(event('job_2'));
      await expect(reconciler.receive(event('job_1'))).rejects.toThrow('the hook failed');
      await expect(reconciler.register('job_2')).rejects.toThrow('the hook failed');
      expect(await reconciler.job('job_1')).toMatchObject({ status: 'queued', terminalAt: null });
      expect(await reconciler.job('job_2')).toBeNull();
      expect(await subject.rows('parked')).toHaveLength(1);
      expect(await effects()).toEqual([]);

      broken = false;
      expect(await reconciler.receive(event('job_1'))).toBe('applied');
      expect(await reconciler.register('job_2')).toBe('reconciled');
      expect(await effects()).toEqual(['job_1', 'job_2']);
      await drop();
    });

    test('a hook that swallows a failed statement does not get the end of the job committed', async () => {
      const { reconciler, effects, drop } = await withEffects(async (_job, tx) => {
        await tx.query('select 1 / 0').catch(() => undefined);
      });
      await reconciler.register('job_1');
      await expect(reconciler.receive(event('job_1'))).rejects.toThrow();
      expect(await reconciler.job('job_1')).toMatchObject({ status: 'queued' });
      expect(await effects()).toEqual([]);
      await drop();
    });

    test('a hook whose own data is refused is not taken for a refused result', async () => {
      const { reconciler, drop } = await withEffects(async (_job, tx) => {
        await tx.query(`select 'x'::int`);
      });
      await reconciler.register('job_1');
      await expect(reconciler.receive(event('job_1'))).rejects.toMatchObject({ code: '22P02' });
      expect(await reconciler.job('job_1')).toMatchObject({ status: 'queued', result: null });
      await drop();
    });
  });
}
