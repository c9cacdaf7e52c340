import type { Running, ServerSession } from './server-session.ts';

/** What a backend waits for. */
export interface Wait {
  /** The lock, as long as it is this one and this wait. */
  readonly key: string;
  /** The lock in the backend's own words; null where nobody told. */
  readonly told: string | null;
  /** Backends that hold the lock, or are before this one in the queue for it. */
  readonly blockers: readonly number[];
}

/**
 * Tells whether a statement has ended or waits for a lock, without ever guessing by time. A backend that may
 * log to its client says itself that it waits. Of one that may not, `pg_locks` is read until two looks agree; a
 * circle of waiters is then broken here, by ending the one who closed it, before the server's own check (after
 * a second, on whoever comes first) does.
 */
export interface LockWaits {
  /** Resolves when the statement has ended (null), or waits for another lock than `before`. */
  settled(session: ServerSession, running: Running, before: Wait | null): Promise<Wait | null>;
  /** What each of these backends waits for now. One that is not in it does not wait. */
  look(pids: readonly number[]): Promise<Map<number, Wait>>;
  /** Whether one of this simulation's backends is waited for. */
  isOurAffair(wait: Wait): boolean;
  /** Ends the statement that the backend runs. */
  cancel(session: ServerSession, running: Running): Promise<void>;
}

/** Who waits, and for what. `waitstart` (from 14 on) tells one wait for a lock from the next for the same. */
const LOOK = `
  select pid, pg_blocking_pids(pid) as blockers,
    concat_ws('/', locktype, mode, database, relation, page, tuple, virtualxid, transactionid, classid, objid,
      objsubid, waitstart) as key
  from pg_locks where not granted and pid = any($1)`;

/** @param isOurs whether a backend is one of this simulation's. */
export function createLockWaits(
  observer: ServerSession,
  isOurs: (pid: number) => boolean,
): LockWaits {
  const look = async (pids: readonly number[]): Promise<Map<number, Wait>> => {
    const { rows } = await observer.query<{ pid: number; blockers: number[]; key: string }>(LOOK, [
      pids,
    ]);
    return new Map(rows.map(({ pid, blockers, key }) => [pid, { key, told: null, blockers }]));
  };

  /** The server does the waiting between two looks. */
  const pause = async (): Promise<void> => void (await observer.query('select pg_sleep(0.001)'));

  const cancel = async (session: ServerSession, running: Running): Promise<void> => {
    await observer.query('select pg_cancel_backend($1)', [session.pid]);
    while (running.outcome === null) await session.stirred();
  };

  /** Whether the wait of this backend leads back to it. */
  const closesCircle = async (pid: number): Promise<boolean> => {
    const seen = new Set<number>();
    const next = [pid];
    for (let one = next.pop(); one !== undefined; one = next.pop()) {
      const wait = (await look([one])).get(one);
      for (const blocker of wait?.blockers ?? []) {
        if (blocker === pid) return true;
        if (!seen.has(blocker)) next.push(blocker);
        seen.add(blocker);
      }
    }
    return false;
  };

  const isOurAffair = ({ blockers }: Wait): boolean => blockers.some(isOurs);

  return {
    look,
    isOurAffair,
    cancel,
    settled: async (session, running, before) => {
      if (session.tellsWaits) {
        while (
          running.outcome === null &&
          (session.toldWait === null || session.toldWait === before?.told)
        )
          await session.stirred();
      }
      let lastKey: string | null = null;
      for (;;) {
        if (running.outcome !== null) return null;
        const wait = (await look([session.pid])).get(session.pid) ?? null;
        // A stranger's lock (another simulation in this database, say) goes away by itself, and is no news.
        const isOurWait = wait !== null && isOurAffair(wait) && wait.key !== before?.key;
        const isSure = session.tellsWaits || wait?.key === lastKey;
        if (isOurWait && isSure) {
          if (session.tellsWaits || !(await closesCircle(session.pid))) {
            return { ...wait, told: session.toldWait };
          }
          await cancel(session, running);
          const error = new Error('deadlock detected');
          running.outcome = { error: Object.assign(error, { code: '40P01' }) };
          return null;
        }
        lastKey = wait?.key ?? null;
        await pause();
      }
    },
  };
}
