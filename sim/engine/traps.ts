import { watchAsyncResources } from './async-resources.ts';
import { rememberSignatures } from './known-signatures.ts';
import type { Quiet } from './quiet.ts';

export interface TrapHandlers {
  quiet: Quiet;
  /** True while a task's own code runs. */
  inTask: () => boolean;
  /** A task called `what`; `where` is the calling line, if it can be told. */
  onUncontrolled: (what: string, where: string | null) => void;
  /** False when the run goes through an interceptor that owns the global `fetch`. */
  trapFetch: boolean;
}

/**
 * Stands guard over what a task could wait for without the engine knowing: timers and the global `fetch` are
 * reported at once, WebCrypto is counted. Calls from outside a task pass through. Returns what undoes it.
 */
export function setTraps(handlers: TrapHandlers): () => void {
  const undo: (() => void)[] = [];
  const replace = (
    target: object,
    key: string,
    make: (original: AnyFunction) => AnyFunction,
  ): void => {
    const own = Object.getOwnPropertyDescriptor(target, key);
    const original: unknown = (target as Record<string, unknown>)[key];
    if (typeof original !== 'function') return;
    Object.defineProperty(target, key, {
      configurable: true,
      enumerable: own?.enumerable ?? false,
      writable: true,
      value: make(original as AnyFunction),
    });
    undo.push(() => {
      // In a worker these are inherited: what is not its own goes away again.
      if (own === undefined) Reflect.deleteProperty(target, key);
      else Object.defineProperty(target, key, own);
    });
  };

  const trap = (target: object, key: string, shown: string, instead: () => unknown): void => {
    replace(
      target,
      key,
      (original) =>
        function trapped(this: unknown, ...args: unknown[]) {
          if (!handlers.inTask()) return original.apply(this, args);
          handlers.onUncontrolled(shown, callingLine());
          return instead();
        },
    );
  };

  for (const timer of ['setTimeout', 'setInterval', 'setImmediate']) {
    trap(globalThis, timer, timer, () => undefined);
  }
  trap(AbortSignal, 'timeout', 'AbortSignal.timeout', () => new AbortController().signal);
  if (handlers.trapFetch) {
    // Never settles: the run ends here, and the task with it.
    trap(globalThis, 'fetch', 'the global fetch', () => new Promise(() => {}));
  }

  const subtle: object = Object.getPrototypeOf(crypto.subtle) as object;
  for (const key of Object.getOwnPropertyNames(subtle)) {
    if (key === 'constructor') continue;
    replace(subtle, key, (original) => {
      const remembering = rememberSignatures(key, original);
      return function counted(this: unknown, ...args: unknown[]) {
        const result = remembering.apply(this, args);
        return result instanceof Promise ? handlers.quiet.track(result) : result;
      };
    });
  }

  undo.push(
    watchAsyncResources({
      inTask: handlers.inTask,
      onUncontrolled: (what) => handlers.onUncontrolled(what, callingLine()),
    }),
  );

  return () => {
    for (const restore of undo.toReversed()) restore();
  };
}

type AnyFunction = (this: unknown, ...args: unknown[]) => unknown;

/** The first line of the stack that is neither this file's nor the platform's. */
function callingLine(): string | null {
  const lines = (new Error('where').stack ?? '').split('\n').slice(1);
  const line = lines.find(
    (candidate) =>
      !/engine\/(traps|async-resources)\./.test(candidate) &&
      !candidate.includes('node:') &&
      candidate.includes(':'),
  );
  return line === undefined ? null : line.trim().replace(/^at /, '');
}
