import type { Clock } from '../../src/clock.ts';
import type { Arrival } from './arrival.ts';
import type { Holds } from './holds.ts';
import type { Pending, PendingWork } from './pending.ts';
import type { RequestRecord } from './request-log.ts';
import type { RouteName } from './route-table.ts';

/** A request, and what is written down of it. */
export interface Visitor {
  arrival: Arrival;
  record: RequestRecord;
}

/** What a hold on answers can be about. */
export interface AnswerSubject {
  route: RouteName;
  jobId: string | null;
}

/** The waits of requests for their answers. A reset ends all of them, and a client that goes away its own. */
export interface AnswerWaits {
  /** Waits while the answer is held. Says whether it may go out. */
  passHolds(visitor: Visitor, route: RouteName): Promise<boolean>;
  /** Lets time pass. Says whether the answer may still go out. */
  pause(visitor: Visitor, ms: number): Promise<boolean>;
  /** Aborts at the next reset. */
  untilReset(): AbortSignal;
  /** Ends every wait: none of those answers goes out. */
  cancelAll(): void;
}

/** Why a wait ended early. */
const LEFT = new Error('Nobody waits for this answer any more.');

/** No wait yet. */
export function createAnswerWaits(options: {
  clock: Clock;
  pending: Pending;
  holds: Holds<AnswerSubject>;
}): AnswerWaits {
  const { clock, pending, holds } = options;
  let open = new AbortController();

  const wait = async (
    { arrival, record }: Visitor,
    until: (work: PendingWork, signal: AbortSignal) => Promise<boolean>,
  ): Promise<boolean> => {
    const ended = new AbortController();
    const end = (): void => ended.abort(LEFT);
    const { signal } = open;
    signal.addEventListener('abort', end, { once: true });
    const stopListening = arrival.onGone(end);
    const work = pending.begin(`The answer to ${record.method} ${record.path}`, record.jobId);
    try {
      return await until(work, ended.signal);
    } catch (error) {
      if (!ended.signal.aborted) throw error;
      return false;
    } finally {
      signal.removeEventListener('abort', end);
      stopListening();
      work.done();
    }
  };

  return {
    async passHolds(visitor, route) {
      const { jobId } = visitor.record;
      const subject = { route, jobId };
      if (!holds.keepBack(subject)) return true;
      return wait(
        visitor,
        async (work, signal) => (await holds.pass(subject, jobId, work, signal)) === 'through',
      );
    },

    async pause(visitor, ms) {
      if (ms === 0) return true;
      return wait(visitor, async (work, signal) => {
        work.now({ for: 'clock', untilMs: clock.now() + ms });
        await clock.sleep(ms, signal);
        return true;
      });
    },

    untilReset: () => open.signal,

    cancelAll() {
      open.abort(LEFT);
      open = new AbortController();
    },
  };
}
