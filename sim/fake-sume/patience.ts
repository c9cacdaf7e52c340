/**
 * Resolves with false after `ms` milliseconds of real time, or with true as soon as `changed` resolves.
 *
 * A watchdog for a person who waits, and the only use of real time in the fake: it decides when to stop
 * waiting and say why, never what Sume does. `AbortSignal.timeout` is the one timer that test runners leave
 * alone when they fake all others, and it keeps no process alive.
 */
export function changesWithin(ms: number, changed: Promise<void>): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const tired = AbortSignal.timeout(ms);
    const onTired = (): void => resolve(false);
    tired.addEventListener('abort', onTired, { once: true });
    const onChanged = (): void => {
      // Without its listener the signal is garbage, timer and all.
      tired.removeEventListener('abort', onTired);
      resolve(true);
    };
    changed.then(onChanged, reject);
  });
}
