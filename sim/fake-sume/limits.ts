import type { Clock } from '../../src/clock.ts';
import { Refusal } from './answer.ts';
import { LIMIT_WINDOW_MS } from './assumptions.ts';
import { BadOptionError } from './errors.ts';

/** Requests that one API key may make in a minute. */
export interface Limits {
  readPerMinute: number;
  generationPerMinute: number;
}

/** What Sume's docs give: 120 reads and 10 generations a minute. */
export const PUBLISHED_LIMITS: Limits = { readPerMinute: 120, generationPerMinute: 10 };

interface Window {
  startedMs: number;
  used: number;
}

/** Counts requests by key and bucket. */
export interface LimitCounter {
  /**
   * Takes one request out of a bucket.
   *
   * @returns the `RateLimit-…` headers for the answer. Throws the 429 with `Retry-After` when it is empty.
   */
  take(apiKey: string, bucket: 'read' | 'generation'): Record<string, string>;
  /** Counts from nothing again. */
  clear(): void;
}

/** @param limits whole numbers above 0; others are refused with `BadOptionError`. */
export function createLimitCounter(limits: Limits, clock: Clock): LimitCounter {
  for (const [name, value] of Object.entries(limits) as [string, number][]) {
    if (!Number.isInteger(value) || value < 1) {
      throw new BadOptionError(
        `limits.${name} is ${value}: give a whole number above 0, or no limits.`,
      );
    }
  }
  const windows = new Map<string, Window>();
  return {
    take(apiKey, bucket) {
      const limit = bucket === 'read' ? limits.readPerMinute : limits.generationPerMinute;
      const nowMs = clock.now();
      const name = `${bucket} ${apiKey}`;
      let window = windows.get(name);
      if (window === undefined || nowMs >= window.startedMs + LIMIT_WINDOW_MS) {
        window = { startedMs: nowMs, used: 0 };
        windows.set(name, window);
      }
      const resetSeconds = Math.ceil((window.startedMs + LIMIT_WINDOW_MS - nowMs) / 1000);
      const headers = (remaining: number): Record<string, string> => ({
        'ratelimit-limit': String(limit),
        'ratelimit-remaining': String(remaining),
        'ratelimit-reset': String(resetSeconds),
      });
      if (window.used >= limit) {
        throw new Refusal(
          { status: 429, code: 'rate_limit_exceeded' },
          `More than ${limit} ${bucket} requests in a minute: try again in ${resetSeconds} s.`,
          { headers: { ...headers(0), 'retry-after': String(resetSeconds) } },
        );
      }
      window.used += 1;
      return headers(limit - window.used);
    },
    clear() {
      windows.clear();
    },
  };
}
