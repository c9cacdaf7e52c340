import type { Clock } from '../../src/clock.ts';
import type { MovableClock } from './fake-clock.ts';

/** The longest wait that one timer of the machine's can hold. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

interface Sleeper {
  dueMs: number;
  wake(): void;
  /** Works out anew how long it still has to sleep. */
  lookAgain(): void;
}

/**
 * A clock that runs by itself, perhaps faster than the machine's, and can be moved ahead as well.
 *
 * @param scale how many of its seconds pass in one real second; above 0.
 * @param machine what it runs by.
 */
export function createRunningClock(scale: number, machine: Clock): MovableClock {
  if (!(scale > 0) || !Number.isFinite(scale)) {
    throw new RangeError(`The time scale is ${scale}: give a number above 0.`);
  }
  const startMs = machine.now();
  let aheadMs = 0;
  const sleepers = new Set<Sleeper>();
  const now = (): number => startMs + Math.floor((machine.now() - startMs) * scale) + aheadMs;
  const inOrder = (): Sleeper[] => [...sleepers].sort((one, other) => one.dueMs - other.dueMs);

  return {
    standsStill: false,
    now,
    sleep: (ms, signal) =>
      new Promise((resolve, reject) => {
        if (signal?.aborted) {
          reject(signal.reason as Error);
          return;
        }
        let timer = new AbortController();
        let asleep = true;
        const end = (): void => {
          asleep = false;
          sleepers.delete(sleeper);
          signal?.removeEventListener('abort', onAbort);
          timer.abort();
        };
        const onAbort = (): void => {
          end();
          reject(signal?.reason as Error);
        };
        const sleeper: Sleeper = {
          dueMs: now() + Math.max(0, ms),
          wake: () => {
            end();
            resolve();
          },
          lookAgain: () => timer.abort(),
        };
        sleepers.add(sleeper);
        signal?.addEventListener('abort', onAbort, { once: true });
        const untilDue = async (): Promise<void> => {
          while (asleep && sleeper.dueMs > now()) {
            const realMs = Math.ceil((sleeper.dueMs - now()) / scale);
            timer = new AbortController();
            const { signal: moved } = timer;
            await machine
              .sleep(Math.min(realMs, LONGEST_TIMER_MS), moved)
              .catch((error: unknown) => {
                // The clock was moved, or the sleep is over.
                if (!moved.aborted) throw error;
              });
          }
          if (asleep) sleeper.wake();
        };
        untilDue().catch((error: unknown) => {
          end();
          reject(error instanceof Error ? error : new Error(String(error)));
        });
      }),
    nextDueMs: () => inOrder()[0]?.dueMs ?? null,
    moveTo: (timeMs) => {
      const fromMs = now();
      if (!(timeMs >= fromMs)) {
        throw new RangeError(`The clock cannot move from ${fromMs} back to ${timeMs}.`);
      }
      aheadMs += timeMs - fromMs;
      for (const sleeper of inOrder()) {
        if (sleeper.dueMs <= timeMs) sleeper.wake();
        else sleeper.lookAgain();
      }
    },
  };
}
