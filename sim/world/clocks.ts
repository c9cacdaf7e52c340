import type { Clock } from '../../src/clock.ts';
import type { Engine } from '../engine/engine.ts';

/** When every schedule begins, as a point of calendar time: any fixed one would do. */
export const EPOCH_MS: number = Date.UTC(2026, 0, 1);

/**
 * Virtual time as somebody's clock.
 *
 * @param isGuard tells a time-out, which guards something in flight, from a sleep that something begins with.
 */
export function createClock(
  engine: Engine,
  skewMs: () => number,
  isGuard: (ms: number, signal: AbortSignal | undefined) => boolean,
): Clock {
  return {
    now: () => EPOCH_MS + engine.nowMs + skewMs(),
    sleep: (ms, signal) => {
      const guard = isGuard(ms, signal);
      const duration = `${ms / 1000} s`;
      return engine.step<void>({
        name: guard ? `time-out ${duration}` : `waits ${duration}`,
        kind: 'timer',
        afterMs: Math.max(0, ms),
        guard,
        signal: signal ?? null,
        perform: () => ({
          text: guard ? `time-out: ${duration} have passed` : `${duration} have passed`,
          value: undefined,
        }),
      });
    },
  };
}
