/**
 * Makes the global `fetch` that of the simulation, for code that takes none. Not by MSW's `setupServer`: since
 * MSW 3 that meets a request at its socket, and on the way there it waits for timers and for the network, which
 * no schedule orders. Whoever replaced the global before, as MSW 2 does, has it back afterwards.
 *
 * Returns what undoes it.
 */
export function replaceGlobalFetch(replacement: typeof fetch): () => void {
  const own = Object.getOwnPropertyDescriptor(globalThis, 'fetch');
  Object.defineProperty(globalThis, 'fetch', {
    configurable: true,
    enumerable: own?.enumerable ?? true,
    writable: true,
    value: replacement,
  });
  return () => {
    // In a worker it is inherited: what is not its own goes away again.
    if (own === undefined) Reflect.deleteProperty(globalThis, 'fetch');
    else Object.defineProperty(globalThis, 'fetch', own);
  };
}
