import type { Clock } from './clock.ts';

/**
 * Runs work that ends after `ms` at the latest: its signal aborts with `expired()`, and the promise rejects with
 * it even where the work does not listen. A caller's own `signal` ends it the same way, with its reason. No
 * timer stays behind. The time is the clock's, so a simulated clock decides here too.
 */
export async function withTimeLimit<T>(
  limit: { clock: Clock; ms: number; signal?: AbortSignal | undefined; expired: () => Error },
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const { clock, ms, signal: outer, expired } = limit;
  outer?.throwIfAborted();
  const ended = new AbortController();
  const timer = new AbortController();
  let onAbort = (): void => {};
  const aborted = new Promise<never>((_resolve, reject) => {
    onAbort = () => reject(ended.signal.reason as Error);
    ended.signal.addEventListener('abort', onAbort, { once: true });
  });
  const follow = (): void => ended.abort(outer?.reason);
  outer?.addEventListener('abort', follow, { once: true });
  clock.sleep(ms, timer.signal).then(
    () => ended.abort(expired()),
    (error: unknown) => {
      // Stopped because the work is done. A clock that fails by itself ends the work instead of hiding it.
      if (!timer.signal.aborted) ended.abort(error);
    },
  );
  try {
    return await Promise.race([work(ended.signal), aborted]);
  } finally {
    timer.abort(DONE);
    // A platform's `Request` may keep the signal until some later collection: let it hold nothing else.
    ended.signal.removeEventListener('abort', onAbort);
    outer?.removeEventListener('abort', follow);
  }
}

/** A reason of our own: without one, each abort builds a DOMException with its stack, for nobody. */
const DONE = new Error('The work is done, and its time limit with it.');
