import type { Clock } from '../../src/clock.ts';

/** A clock that moves only when the test says so. */
export interface ManualClock extends Clock {
  /** Moves time on; sleepers that are due by then wake in the order of their times. */
  advance(ms: number): void;
  /** How many sleepers there are: one more than none at the end of a test is a timer left behind. */
  readonly sleeping: number;
}

/** Starts at an ordinary moment in 2026, unless told otherwise. */
export function manualClock(startMs: number = Date.UTC(2026, 5, 1, 12)): ManualClock {
  let nowMs = startMs;
  const sleepers = new Set<{ dueMs: number; wake: () => void }>();
  return {
    now: () => nowMs,
    sleep: (ms, signal) =>
      new Promise((resolve, reject) => {
        if (signal?.aborted === true) {
          reject(signal.reason as Error);
          return;
        }
        const onAbort = (): void => {
          sleepers.delete(sleeper);
          reject(signal?.reason as Error);
        };
        const sleeper = {
          dueMs: nowMs + ms,
          wake: (): void => {
            signal?.removeEventListener('abort', onAbort);
            resolve();
          },
        };
        sleepers.add(sleeper);
        signal?.addEventListener('abort', onAbort, { once: true });
      }),
    advance: (ms) => {
      nowMs += ms;
      const due = [...sleepers].filter((sleeper) => sleeper.dueMs <= nowMs);
      due.sort((a, b) => a.dueMs - b.dueMs);
      for (const sleeper of due) {
        sleepers.delete(sleeper);
        sleeper.wake();
      }
    },
    get sleeping() {
      return sleepers.size;
    },
  };
}
