import type { PendingWork } from './pending.ts';

/** Something that a hold keeps back. */
export interface Held {
  /** In words: `webhook/job_1, attempt 1` or `the answer to status`. */
  readonly label: string;
  readonly jobId: string | null;
}

/** Keeps back deliveries or answers until it is told what to do with them. */
export interface Hold {
  /** What it keeps back now, in the order of arrival. */
  readonly held: readonly Held[];
  /** Resolves with the first thing kept back, as soon as there is one. */
  arrived(): Promise<Held>;
  /** Lets through what it keeps back, or the first `count` of it. Without a count it also ends the hold. */
  release(count?: number): void;
  /** Loses in the network what it keeps back, and ends the hold. */
  drop(): void;
}

/** What happens to a thing that reached a hold. */
export type Passage = 'through' | 'lost';

/** The holds of one kind of thing. `Subject` is what a hold can be about. */
export interface Holds<Subject> {
  place(matches: (subject: Subject) => boolean): Hold;
  /** Whether a hold is there for it. */
  keepBack(subject: Subject): boolean;
  /** Resolves at once without a matching hold; rejects with the signal's reason when that aborts. */
  pass(
    subject: Subject,
    jobId: string | null,
    work: PendingWork,
    signal: AbortSignal,
  ): Promise<Passage>;
  /** Ends every hold; what they keep back ends by its signal. */
  clear(): void;
}

interface Waiter extends Held {
  settle(passage: Passage): void;
}

interface Placed<Subject> {
  matches(subject: Subject): boolean;
  waiters: Waiter[];
  watchers: ((held: Held) => void)[];
}

/** Holds that are placed one by one; where several match, the oldest keeps the thing back. */
export function createHolds<Subject>(): Holds<Subject> {
  let placed: Placed<Subject>[] = [];

  return {
    place(matches) {
      const hold: Placed<Subject> = { matches, waiters: [], watchers: [] };
      placed.push(hold);
      const end = (): void => {
        placed = placed.filter((other) => other !== hold);
      };
      const letGo = (passage: Passage, count: number): void => {
        for (const waiter of hold.waiters.splice(0, count)) waiter.settle(passage);
      };
      return {
        get held() {
          return hold.waiters.map(({ label, jobId }) => ({ label, jobId }));
        },
        arrived: () =>
          new Promise((resolve) => {
            const first = hold.waiters[0];
            if (first === undefined) hold.watchers.push(resolve);
            else resolve({ label: first.label, jobId: first.jobId });
          }),
        release(count) {
          if (count === undefined) end();
          letGo('through', count ?? hold.waiters.length);
        },
        drop() {
          end();
          letGo('lost', hold.waiters.length);
        },
      };
    },

    keepBack: (subject) => placed.some((one) => one.matches(subject)),

    pass(subject, jobId, work, signal) {
      const hold = placed.find((one) => one.matches(subject));
      if (hold === undefined) return Promise.resolve('through');
      return new Promise((resolve, reject) => {
        if (signal.aborted) {
          reject(signal.reason as Error);
          return;
        }
        const leave = (): void => {
          signal.removeEventListener('abort', onAbort);
          hold.waiters = hold.waiters.filter((other) => other !== waiter);
          work.now({ for: 'itself' });
        };
        const onAbort = (): void => {
          leave();
          reject(signal.reason as Error);
        };
        const waiter: Waiter = {
          label: work.label,
          jobId,
          settle: (passage) => {
            leave();
            resolve(passage);
          },
        };
        signal.addEventListener('abort', onAbort, { once: true });
        hold.waiters.push(waiter);
        work.now({ for: 'release' });
        for (const watch of hold.watchers.splice(0)) watch({ label: waiter.label, jobId });
      });
    },

    clear() {
      placed = [];
    },
  };
}
