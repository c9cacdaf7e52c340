import type { Clock } from '../../src/clock.ts';
import { StillWaitingError } from './errors.ts';
import { changesWithin } from './patience.ts';

/** What one piece of work under way is waiting for. */
export type Waiting =
  /** The fake itself: it goes on without anybody's help. */
  | { for: 'itself' }
  /** A receiver's answer, at most until `untilMs` of the fake's clock. */
  | { for: 'receiver'; url: string; untilMs: number }
  /** The fake's clock. */
  | { for: 'clock'; untilMs: number }
  /** A hold that somebody placed. */
  | { for: 'release' };

/** One piece of work under way. */
export interface PendingWork {
  /** In words, to begin a sentence with: `webhook/job_1, attempt 2,`. */
  readonly label: string;
  readonly jobId: string | null;
  rename(label: string): void;
  now(waiting: Waiting): void;
  done(): void;
}

/** What is under way in one fake, and the ways to wait for it. */
export interface Pending {
  begin(label: string, jobId: string | null): PendingWork;
  /** One sentence for each piece of work under way. */
  describe(): string[];
  /**
   * Resolves when nothing is pending (for one job, if given). Rejects with `StillWaitingError` when what is
   * left cannot end by itself: something held, a clock that nobody moves, a receiver that gives no answer
   * while that clock stands.
   */
  settled(jobId?: string): Promise<void>;
  /**
   * Resolves when nothing more happens at the present time of the clock: all is done, held or asleep. A
   * receiver that has not answered is given a little real time for it.
   */
  quiet(): Promise<void>;
}

/**
 * How much of the machine's time a receiver gets for its answer before the fake's own clock may move past
 * the limit of the attempt. Only a receiver that hangs takes it.
 */
const PATIENCE_MS = 2_000;

interface Entry {
  label: string;
  jobId: string | null;
  waiting: Waiting;
}

/** @param standsStill whether the clock only moves when somebody moves it. */
export function createPending(clock: Clock, standsStill: boolean): Pending {
  const entries = new Set<Entry>();
  let watchers: (() => void)[] = [];

  const wakeWatchers = (): void => {
    const woken = watchers;
    watchers = [];
    for (const wake of woken) wake();
  };
  const change = (): Promise<void> => new Promise((resolve) => watchers.push(resolve));

  /** Whether more will happen at the present time of the clock. What is due by now was woken. */
  const isBusyNow = ({ waiting }: Entry): boolean =>
    waiting.for === 'itself' || (waiting.for !== 'release' && waiting.untilMs <= clock.now());
  const goesOnByItself = (entry: Entry): boolean =>
    isBusyNow(entry) || (!standsStill && entry.waiting.for !== 'release');
  const describe = ({ label, waiting }: Entry): string => {
    if (waiting.for === 'itself') return `${label} is under way.`;
    if (waiting.for === 'release') {
      return `${label} is held: release it with release() of its hold, or POST /__sim/holds/{holdId}/release.`;
    }
    const left = `${Math.max(0, waiting.untilMs - clock.now())} ms of the fake's own clock`;
    const advance = standsStill
      ? `, which stands still: move it with control.advance(${Math.max(0, waiting.untilMs - clock.now())}).`
      : '.';
    return waiting.for === 'clock'
      ? `${label} is due in ${left}${advance}`
      : `${label} has no answer from ${waiting.url} yet; its time limit ends in ${left}${advance}`;
  };

  const waitFor = async (
    watched: () => Entry[],
    isWorthWaiting: (entry: Entry) => boolean,
  ): Promise<Entry[]> => {
    for (;;) {
      const left = watched();
      if (left.some(isWorthWaiting)) await change();
      else if (!left.some(({ waiting }) => waiting.for === 'receiver')) return left;
      else if (!(await changesWithin(PATIENCE_MS, change()))) return left;
    }
  };

  return {
    begin(label, jobId) {
      const entry: Entry = { label, jobId, waiting: { for: 'itself' } };
      entries.add(entry);
      return {
        get label() {
          return entry.label;
        },
        jobId,
        rename(newLabel) {
          entry.label = newLabel;
        },
        now(waiting) {
          entry.waiting = waiting;
          wakeWatchers();
        },
        done() {
          entries.delete(entry);
          wakeWatchers();
        },
      };
    },
    describe: () => [...entries].map(describe),
    async settled(jobId) {
      const left = await waitFor(
        () => [...entries].filter((entry) => jobId === undefined || entry.jobId === jobId),
        goesOnByItself,
      );
      if (left.length > 0) throw new StillWaitingError(left.map(describe));
    },
    async quiet() {
      await waitFor(() => [...entries], isBusyNow);
    },
  };
}
