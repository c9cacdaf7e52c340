import { stableHash } from './stable-hash.ts';

/** Names requests in errors, as `req_…`. */
export interface RequestNames {
  /** The same for the same requests, whatever else was asked in between; another each time. */
  next(request: { method: string; path: string }): string;
  clear(): void;
}

/** Of how many paths it is counted how often they were refused. */
const MOST_PATHS_COUNTED = 10_000;

/** Counts from nothing. */
export function createRequestNames(): RequestNames {
  const timesNamed = new Map<string, number>();
  return {
    next({ method, path }) {
      const times = (timesNamed.get(path) ?? 0) + 1;
      // Names may come again after so many paths: a server that runs for weeks must not remember them all.
      if (timesNamed.size >= MOST_PATHS_COUNTED) timesNamed.clear();
      timesNamed.set(path, times);
      return `req_${stableHash('request', method, path, String(times))}`;
    },
    clear() {
      timesNamed.clear();
    },
  };
}
