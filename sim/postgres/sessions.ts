import type { Engine } from '../engine/engine.ts';
import type { Task } from '../engine/task.ts';
import type { LockWaits, Wait } from './lock-waits.ts';
import type { Running, ServerSession } from './server-session.ts';

/** A session in use by a task, from its BEGIN to the end of its transaction. */
export interface UsedSession {
  readonly session: ServerSession;
  readonly task: Task;
  /** The statement that waits for a lock, or was let on and has not told its task yet. */
  waiting: WaitingStatement | null;
}

export interface WaitingStatement {
  readonly running: Running;
  /** What it waits for; null once it was let on and has ended. */
  wait: Wait | null;
  /** The jobs whose rows it may wait for; none when it waits for an advisory lock. */
  readonly rowsOf: readonly string[];
  /** Notes in the step under way that the statement went on in it. */
  readonly goesOn: () => void;
}

/** The sessions of one schedule: who uses which, and who waits for whom. */
export interface Sessions {
  take(task: Task): Promise<UsedSession>;
  giveBack(used: UsedSession): void;
  /** Runs a statement until it has ended or waits for a lock. Null when it has ended. */
  run(used: UsedSession, running: Running, before: Wait | null): Promise<Wait | null>;
  /** Who holds what it waits for, by the names of their tasks. */
  holders(wait: Wait): string;
  /**
   * Whether a statement on the rows of these jobs may be sent now. Not while another waits for such a row: when it is
   * let go, PostgreSQL wakes the first in the queue, who lets the second in before it has locked the new version of
   * the row, so that either may get it. Sent later, the second finds the rows as it would have found them after its
   * wait. Whoever the first waits for is not held up. Advisory locks have a queue that keeps its order.
   */
  mayQueue(own: UsedSession | null, jobs: readonly string[]): boolean;
  /** Locks were let go: sees to it that all who waited for them have got as far as they can. */
  released(): Promise<void>;
  /** Breaks off whatever runs there, and rolls back. */
  breakOff(used: readonly UsedSession[]): Promise<void>;
  /** Those in use. */
  readonly used: ReadonlySet<UsedSession>;
}

export function createSessions(options: {
  engine: Pick<Engine, 'outside'>;
  lockWaits: LockWaits;
  /** The session of this number, clean at first. The lowest that is free is taken, so that runs are alike. */
  session: (number: number) => Promise<ServerSession>;
}): Sessions {
  const { engine, lockWaits } = options;
  const slots: (UsedSession | null)[] = [];
  const opened: ServerSession[] = [];
  const used = new Set<UsedSession>();

  /** Whether the one waits for the other, or for somebody who does. */
  const waitsFor = (one: UsedSession, other: UsedSession): boolean => {
    const reached = new Set([one]);
    for (const next of reached) {
      for (const pid of next.waiting?.wait?.blockers ?? []) {
        if (pid === other.session.pid) return true;
        for (const blocker of used) if (blocker.session.pid === pid) reached.add(blocker);
      }
    }
    return false;
  };

  const sessions: Sessions = {
    used,
    take: async (task) => {
      const free = slots.indexOf(null);
      const number = free === -1 ? slots.length : free;
      const session = opened[number] ?? (await engine.outside(() => options.session(number)));
      opened[number] = session;
      const taken: UsedSession = {
        session,
        task,
        waiting: null,
      };
      slots[number] = taken;
      used.add(taken);
      return taken;
    },
    giveBack: (given) => {
      slots[slots.indexOf(given)] = null;
      used.delete(given);
    },
    run: (one, running, before) => lockWaits.settled(one.session, running, before),
    holders: ({ blockers }) => {
      const names = [...used]
        .filter(({ session }) => blockers.includes(session.pid))
        .map(({ task }) => task.name);
      return [...new Set(names)].join(' and ');
    },
    mayQueue: (own, jobs) => {
      const meets = (rows: readonly string[]): boolean =>
        rows.some((job) => job === '*' || jobs.includes('*') || jobs.includes(job));
      return [...used].every(
        (other) =>
          other === own ||
          other.waiting === null ||
          other.waiting.wait === null ||
          !meets(other.waiting.rowsOf) ||
          (own !== null && waitsFor(other, own)),
      );
    },
    released: async () => {
      for (;;) {
        const waiting = [...used].flatMap(({ session, waiting: statement }) =>
          statement === null || statement.wait === null
            ? []
            : [{ session, statement, wait: statement.wait }],
        );
        if (waiting.length === 0) return;
        const now = await lockWaits.look(waiting.map(({ session }) => session.pid));
        let isStill = true;
        // What one does next may let others on, so look again.
        for (const { session, statement, wait } of waiting) {
          const current = now.get(session.pid);
          const isLetOn = current?.key !== wait.key;
          // The lock may have passed to a stranger first, who is no step of ours: then the wait is waited out.
          if (!isLetOn && lockWaits.isOurAffair(current)) continue;
          isStill = false;
          statement.wait = await lockWaits.settled(
            session,
            statement.running,
            isLetOn ? wait : null,
          );
          statement.goesOn();
        }
        if (isStill) return;
      }
    },
    breakOff: async (gone) => {
      for (const { session, waiting } of gone) {
        if (waiting === null || waiting.running.outcome !== null) continue;
        await lockWaits.cancel(session, waiting.running);
        waiting.wait = null;
        // It may have held what another of them waits for: that one is not to be canceled while it runs on.
        await sessions.released();
      }
      for (const one of gone) {
        if (one.session.status !== 'I') await one.session.execute('rollback');
        one.session.takeNotices();
        sessions.giveBack(one);
        await sessions.released();
      }
    },
  };
  return sessions;
}
