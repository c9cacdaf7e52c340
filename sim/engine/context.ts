import type { AsyncLocalStorage } from 'node:async_hooks';
import type { Task } from './task.ts';

/** Which task runs, and the label of the step whose effect called it back, if one did (a transaction's body). */
export interface Context {
  readonly task: Task;
  readonly within: string | null;
}

/**
 * Tells which task a call comes from. Node follows it through every await by AsyncLocalStorage, so even a
 * lock that one task hands to another is told apart; a browser has nothing like it, and there the running
 * task is taken, which is right for as long as tasks do not share promises.
 */
export interface Attribution {
  current(): Context | null;
  run<T>(context: Context, body: () => T): T;
  /** Runs what belongs to no task, although a task's code called it. */
  outside<T>(body: () => T): T;
  /** For where there is no AsyncLocalStorage: who runs now. */
  running: Context | null;
}

export function createAttribution(): Attribution {
  const storage = sharedStorage();
  const enter = <T>(context: Context | null, body: () => T): T => {
    const before = attribution.running;
    attribution.running = context;
    try {
      return storage === null ? body() : storage.run(context, body);
    } finally {
      attribution.running = before;
    }
  };
  const attribution: Attribution = {
    running: null,
    current: () => (storage === null ? attribution.running : (storage.getStore() ?? null)),
    run: (context, body) => enter(context, body),
    outside: (body) => enter(null, body),
  };
  return attribution;
}

/** One for all engines: every storage that was ever used slows each promise of the process down. */
let shared: AsyncLocalStorage<Context | null> | null | undefined;

function sharedStorage(): AsyncLocalStorage<Context | null> | null {
  if (shared !== undefined) return shared;
  // Not an import: a bundler for browsers would have to resolve it.
  const hooks = globalThis.process?.getBuiltinModule?.('node:async_hooks');
  shared = hooks === undefined ? null : new hooks.AsyncLocalStorage<Context | null>();
  return shared;
}
