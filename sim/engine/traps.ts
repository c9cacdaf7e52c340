import { watchAsyncResources } from './async-resources.ts';
import { GLOBAL_FETCH } from './errors.ts';
import { rememberSignatures } from './known-signatures.ts';
import type { Quiet } from './quiet.ts';

export interface TrapHandlers {
  quiet: Quiet;
  /** True while a task's own code runs. */
  inTask: () => boolean;
  /** A task called `what`; `where` is the calling line, if it can be told. */
  onUncontrolled: (what: string, where: string | null) => void;
  /** False when the global `fetch` is the simulation's own. */
  trapFetch: boolean;
}

/**
 * Stands guard over what a task could wait for without the engine knowing: timers and the global `fetch` are
 * reported at once, WebCrypto and in browsers the reading of bodies are counted. Calls from outside a task pass through. Returns what undoes it.
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
          if (!handlers.inTask() || calledFromWebAssembly()) return original.apply(this, args);
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
    trap(globalThis, 'fetch', GLOBAL_FETCH, () => new Promise(() => {}));
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

  // In Node a body that is there is read within a turn; a browser fetches it from another thread.
  if (isBrowser()) {
    for (const { prototype } of [Request, Response, ReadableStreamDefaultReader]) {
      for (const key of READS) {
        replace(prototype, key, (original) => {
          return function counted(this: unknown, ...args: unknown[]) {
            return handlers.quiet.track(original.apply(this, args) as Promise<unknown>);
          };
        });
      }
    }
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

/** How a body is read, by its own methods or through its stream. */
const READS = ['arrayBuffer', 'blob', 'bytes', 'formData', 'json', 'text', 'read'] as const;

function isBrowser(): boolean {
  return globalThis.process?.getBuiltinModule === undefined;
}

type AnyFunction = (this: unknown, ...args: unknown[]) => unknown;

/**
 * Whether PGlite calls: PostgreSQL's own timers go off in the middle of anything, and where no storage follows a
 * task through its awaits, whoever runs just then would be blamed for the next that it sets.
 */
function calledFromWebAssembly(): boolean {
  return /wasm:|wasm-function/.test(new Error('where').stack ?? '');
}

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
