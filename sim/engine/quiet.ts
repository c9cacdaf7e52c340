/**
 * Knows when nothing moves any more. Promise turns, bodies, PGlite and MSW settle within a macrotask turn;
 * work that leaves the thread (WebCrypto, a database) is counted until it is back. Counting turns or
 * milliseconds instead fails both ways: it accuses correct code, and it misses real leaks.
 */
export interface Quiet {
  /** Counts a promise as work in flight until it settles. Returns it unchanged. */
  track<T>(work: Promise<T>): Promise<T>;
  /** Resolves once nothing is in flight and a macrotask turn has passed since. */
  settled(): Promise<void>;
}

export function createQuiet(): Quiet {
  let inFlight = 0;
  let wake: (() => void) | null = null;
  const done = (): void => {
    inFlight -= 1;
    if (inFlight === 0) {
      wake?.();
      wake = null;
    }
  };
  return {
    track: (work) => {
      inFlight += 1;
      void work.then(done, done);
      return work;
    },
    settled: async () => {
      do {
        if (inFlight > 0) {
          await new Promise<void>((resolve) => {
            wake = resolve;
          });
        }
        await macrotaskTurn();
      } while (inFlight > 0);
    },
  };
}

// Taken when the module loads: a test runner's fake timers, and the engine's own traps, come later.
const immediate = globalThis.setImmediate as typeof setImmediate | undefined;

function macrotaskTurn(): Promise<void> {
  if (immediate !== undefined) return new Promise((resolve) => immediate(resolve));
  return new Promise((resolve) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => {
      port1.close();
      resolve();
    };
    port2.postMessage(null);
  });
}
