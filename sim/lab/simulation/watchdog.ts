// Taken when the worker begins: a running schedule traps the timers of its tasks.
const { setTimeout, clearTimeout } = globalThis;

/** How long pasted code may run without waiting for a port: far longer than any handler takes. */
const LIMIT_MS = 3_000;

/** Calls when the time limit of pasted code is over. Returns what calls it off. */
export function watch(onLate: () => void): () => void {
  const timer = setTimeout(onLate, LIMIT_MS);
  return () => clearTimeout(timer);
}
