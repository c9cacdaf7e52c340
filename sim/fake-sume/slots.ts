/** Lets only so many go at once; the others wait in line. */
export interface Slots {
  /** Resolves when there is a place. Rejects with the signal's reason when that aborts first. */
  take(signal: AbortSignal): Promise<void>;
  give(): void;
}

/** @param count how many places there are. */
export function createSlots(count: number): Slots {
  let free = count;
  const line = new Set<() => void>();
  return {
    take(signal) {
      if (free > 0) {
        free -= 1;
        return Promise.resolve();
      }
      return new Promise((resolve, reject) => {
        const onAbort = (): void => {
          line.delete(go);
          reject(signal.reason as Error);
        };
        const go = (): void => {
          line.delete(go);
          signal.removeEventListener('abort', onAbort);
          resolve();
        };
        line.add(go);
        signal.addEventListener('abort', onAbort, { once: true });
      });
    },
    give() {
      const [next] = line;
      if (next === undefined) free += 1;
      else next();
    },
  };
}
