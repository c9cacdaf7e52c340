import type { Answers, Ask, Progress, Refusal, Told, Wish } from '../simulation/protocol.ts';

/** What the worker could not do, in its own words. */
export class AskError extends Error {
  override readonly name = 'AskError';
  readonly code: string;
  /** Whose cage had to be ended for it, if one had. */
  readonly cage: string | null;

  constructor({ code, message, cage }: Refusal) {
    super(message);
    this.code = code;
    this.cage = cage ?? null;
  }
}

/** The page's end of the worker. */
export interface Simulation {
  ask<Kind extends keyof Answers>(
    wish: Extract<Wish, { kind: Kind }>,
    onProgress?: (progress: Progress) => void,
    /** What of the wish goes over for good. */
    transfer?: Transferable[],
  ): { id: number; answer: Promise<Answers[Kind]> };
  cancel(id: number): void;
}

/** @param onBroken is told when the worker could not be started or broke down. */
export function createSimulation(onBroken: (reason: string) => void): Simulation {
  const waiting = new Map<
    number,
    {
      resolve: (value: never) => void;
      reject: (error: Error) => void;
      onProgress: (progress: Progress) => void;
    }
  >();
  let last = 0;
  const worker = new Worker(new URL('../worker.ts', import.meta.url), { type: 'module' });
  worker.onmessage = ({ data }: MessageEvent<Told>) => {
    const asked = waiting.get(data.id);
    if (asked === undefined) return;
    if ('progress' in data) {
      asked.onProgress(data.progress);
      return;
    }
    waiting.delete(data.id);
    if ('error' in data) asked.reject(new AskError(data.error));
    else asked.resolve(data.value as never);
  };
  worker.onerror = (event) => onBroken(event.message);
  const post = (wish: Wish, transfer: Transferable[] = []): number => {
    last += 1;
    worker.postMessage({ id: last, ...wish } satisfies Ask, transfer);
    return last;
  };
  return {
    ask: (wish, onProgress = () => {}, transfer = []) => {
      const id = post(wish, transfer);
      const answer = new Promise<never>((resolve, reject) => {
        waiting.set(id, { resolve, reject, onProgress });
      });
      return { id, answer };
    },
    cancel: (id) => {
      post({ kind: 'cancel', of: id });
    },
  };
}
