/**
 * The page's own time, for a person's eyes: nothing that is simulated hangs on it.
 */

/** Calls again and again until the returned function is called. */
export function everyBeat(beatMs: number, call: () => void): () => void {
  const timer = setInterval(call, beatMs);
  return () => clearInterval(timer);
}

/** Calls once, after the browser has painted. Returns what calls it off. */
export function afterPainting(call: () => void): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const frame = requestAnimationFrame(() => {
    timer = setTimeout(call, 0);
  });
  return () => {
    cancelAnimationFrame(frame);
    clearTimeout(timer);
  };
}
