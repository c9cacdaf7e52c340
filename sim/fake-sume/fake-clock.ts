import type { Clock } from '../../src/clock.ts';

/** A clock that can be moved by hand. */
export interface MovableClock extends Clock {
  /** Whether it stands still until it is moved, or runs by itself as well. */
  readonly standsStill: boolean;
  /** When the earliest sleeper is due, in milliseconds since the Unix epoch; null without sleepers. */
  nextDueMs(): number | null;
  /**
   * Moves the clock to a time and wakes everybody due by then, the earliest first. Who sleeps again while
   * being woken is not woken twice: `control.advance()` of a fake goes from due time to due time instead.
   * Throws `RangeError` for a time in the past.
   */
  moveTo(timeMs: number): void;
}

/**
 * A clock that stands still until it is moved. It uses no timer of the machine's, so it works the same
 * whether a test runner has faked them or not.
 */
export interface FakeClock extends MovableClock {
  readonly standsStill: true;
}

interface Sleeper {
  dueMs: number;
  wake(): void;
}

/**
 * @param startMs what the clock says first, in milliseconds since the Unix epoch. A receiver that checks the
 * age of a signature compares with its own clock: start near what that says.
 */
export function createFakeClock(startMs: number): FakeClock {
  if (!Number.isFinite(startMs)) {
    throw new RangeError(
      `The clock cannot start at ${startMs}: give milliseconds since the epoch.`,
    );
  }
  let nowMs = startMs;
  const sleepers = new Set<Sleeper>();

  const earliest = (): Sleeper | undefined => {
    let found: Sleeper | undefined;
    // A set keeps the order of insertion, so of two with one due time the first to sleep wakes first.
    for (const sleeper of sleepers) {
      if (found === undefined || sleeper.dueMs < found.dueMs) found = sleeper;
    }
    return found;
  };

  return {
    standsStill: true,
    now: () => nowMs,
    sleep: (ms, signal) =>
      new Promise((resolve, reject) => {
        if (signal?.aborted) {
          reject(signal.reason as Error);
          return;
        }
        const onAbort = (): void => {
          sleepers.delete(sleeper);
          reject(signal?.reason as Error);
        };
        const sleeper: Sleeper = {
          dueMs: nowMs + Math.max(0, ms),
          wake: () => {
            sleepers.delete(sleeper);
            signal?.removeEventListener('abort', onAbort);
            resolve();
          },
        };
        sleepers.add(sleeper);
        signal?.addEventListener('abort', onAbort, { once: true });
      }),
    nextDueMs: () => earliest()?.dueMs ?? null,
    moveTo: (timeMs) => {
      if (!(timeMs >= nowMs)) {
        throw new RangeError(`The clock cannot move from ${nowMs} back to ${timeMs}.`);
      }
      for (;;) {
        const next = earliest();
        if (next === undefined || next.dueMs > timeMs) break;
        nowMs = Math.max(nowMs, next.dueMs);
        next.wake();
      }
      nowMs = timeMs;
    },
  };
}
