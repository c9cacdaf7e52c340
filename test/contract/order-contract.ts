import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Reconciler } from '../../src/reconciler.ts';
import { rankOf, type JobStatus, type TerminalStatus } from '../../src/status.ts';
import { event, type Subject } from './subject.ts';

type Ended = Exclude<TerminalStatus, 'expired'>;

/** Anything that anybody may do to a job, in any order. */
type Action =
  | { do: 'register' }
  | { do: 'receive'; status: Ended }
  | { do: 'advance'; status: JobStatus; insert: boolean }
  | { do: 'dismiss' };

const jobId = fc.constantFrom('job_a', 'job_b');
const ended = fc.constantFrom<Ended>('completed', 'failed', 'canceled');
const status = fc.constantFrom<JobStatus>('queued', 'processing', 'completed', 'failed', 'expired');
const action: fc.Arbitrary<Action> = fc.oneof(
  fc.record({ do: fc.constant('register' as const) }),
  fc.record({ do: fc.constant('receive' as const), status: ended }),
  fc.record({ do: fc.constant('advance' as const), status, insert: fc.boolean() }),
  fc.record({ do: fc.constant('dismiss' as const) }),
);
const script: fc.Arbitrary<{ jobId: string; action: Action }[]> = fc.array(
  fc.record({ jobId, action }),
  { minLength: 1, maxLength: 12 },
);

const perform = (reconciler: Reconciler, id: string, what: Action): Promise<string> => {
  switch (what.do) {
    case 'register':
      return reconciler.register(id);
    case 'receive':
      return reconciler.receive(event(id, what.status));
    case 'advance':
      return reconciler.advance(id, what.status, { insert: what.insert });
    default:
      return reconciler.dismiss(id);
  }
};

/** The whole of the core in a few lines of plain memory: what each action must answer, one after another. */
class Model {
  readonly jobs: Map<string, JobStatus> = new Map();
  readonly parked: Map<string, Ended> = new Map();

  perform(id: string, what: Action): string {
    const job = this.jobs.get(id);
    const waiting = this.parked.get(id);
    switch (what.do) {
      case 'register':
        if (job !== undefined) return 'known';
        this.jobs.set(id, waiting ?? 'queued');
        return this.parked.delete(id) ? 'reconciled' : 'registered';
      case 'receive':
        if (job === undefined) {
          this.parked.set(id, waiting ?? what.status);
          return 'parked';
        }
        if (this.raise(id, job, what.status)) return 'applied';
        return job === what.status ? 'duplicate' : 'conflict';
      case 'advance':
        if (job !== undefined) return this.raise(id, job, what.status) ? 'applied' : 'stale';
        if (!what.insert) return 'unknown_job';
        this.jobs.set(id, waiting ?? what.status);
        this.parked.delete(id);
        return 'inserted';
      default:
        return this.parked.delete(id) ? 'dismissed' : 'unknown';
    }
  }

  private raise(id: string, from: JobStatus, to: JobStatus): boolean {
    if (rankOf(to) <= rankOf(from)) return false;
    this.jobs.set(id, to);
    return true;
  }
}

/** What must hold for every order of events, on any database. */
export function orderContract(subject: Subject): void {
  const empty = async (): Promise<void> => {
    await subject.database.query(`delete from ${subject.prefix}jobs`);
    await subject.database.query(`delete from ${subject.prefix}parked`);
  };
  const stored = async (table: 'jobs' | 'parked'): Promise<Map<string, JobStatus>> => {
    const rows = await subject.rows(table);
    return new Map(rows.map((row) => [String(row['job_id']), row['status'] as JobStatus]));
  };

  describe('any order of events', () => {
    test('one after another, each answers and leaves what the rules say', async () => {
      const reconciler = subject.reconciler();
      await fc.assert(
        fc.asyncProperty(script, async (steps) => {
          await empty();
          const model = new Model();
          for (const step of steps) {
            const expected = model.perform(step.jobId, step.action);
            expect(await perform(reconciler, step.jobId, step.action)).toBe(expected);
            subject.clock.advance(1_000);
          }
          expect(await stored('jobs')).toEqual(model.jobs);
          expect(await stored('parked')).toEqual(model.parked);
        }),
        { numRuns: 60 },
      );
    });

    test('all at once, a job that is registered ends if an end was told, once, and nothing is left parked', async () => {
      // In a table, since a transaction that lost a race runs its hook again: what counts is what committed.
      const table = `${subject.prefix}effects`;
      await subject.database.query(`create table ${table} (effect text not null)`);
      const reconciler = subject.reconciler({
        onTerminal: async (job, tx) => {
          await tx.query(`insert into ${table} values ($1)`, [`${job.jobId} ${job.status}`]);
        },
      });
      await fc.assert(
        fc.asyncProperty(script, async (steps) => {
          await empty();
          await subject.database.query(`delete from ${table}`);
          const actions = steps.filter((step) => step.action.do !== 'dismiss');
          await Promise.all(actions.map((step) => perform(reconciler, step.jobId, step.action)));

          const jobs = await stored('jobs');
          const parked = await stored('parked');
          const { rows: effects } = await subject.database.query(
            `select effect from ${table} order by effect`,
          );
          expect(effects).toEqual(
            [...jobs]
              .filter(([, told]) => rankOf(told) === 2)
              .map(([id, told]) => ({ effect: `${id} ${told}` })),
          );
          for (const id of ['job_a', 'job_b']) {
            const own = actions.filter((step) => step.jobId === id).map((step) => step.action);
            const mine = own.some(
              (what) => what.do === 'register' || (what.do === 'advance' && what.insert),
            );
            const events = own.filter((what) => what.do === 'receive').map((what) => what.status);
            expect(jobs.has(id)).toBe(mine);
            if (!mine) expect(parked.has(id)).toBe(events.length > 0);
            else {
              expect(parked.has(id)).toBe(false);
              if (events.length > 0) expect(rankOf(jobs.get(id) ?? 'queued')).toBe(2);
            }
          }
        }),
        { numRuns: 60 },
      );
      await subject.database.query(`drop table ${table}`);
    });
  });
}
