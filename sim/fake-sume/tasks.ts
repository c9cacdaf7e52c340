import type { Pending, PendingWork } from './pending.ts';

/** Starts a task of its own. */
export type Spawn = (name: string, task: () => Promise<void>) => void;

/** What the fake does by itself: deliveries, and the lives of jobs. Every one can be canceled. */
export interface Tasks {
  /**
   * Starts a task.
   *
   * @param run ends by itself, or rejects with the signal's reason when that aborts.
   * @param onEnd how it ended. Without it, what breaks in the task is thrown at whoever started it.
   */
  start(
    name: string,
    jobId: string,
    run: (work: PendingWork, signal: AbortSignal) => Promise<void>,
    onEnd?: (end: TaskEnd) => void,
  ): void;
  /** Ends every task and waits until none runs. */
  cancelAll(): Promise<void>;
}

/** How a task ended. */
export type TaskEnd = { how: 'done' | 'canceled' } | { how: 'broken'; error: Error };

interface Underway {
  cancel: AbortController;
  /** Undefined until `spawn` started it. */
  running: Promise<void> | undefined;
  /** Ends the bookkeeping of a task that was never started. */
  abandon(): void;
}

/** @param spawn starts tasks. Without one they run at once. */
export function createTasks(spawn: Spawn | undefined, pending: Pending): Tasks {
  const underway = new Set<Underway>();
  return {
    start(name, jobId, run, onEnd) {
      const work = pending.begin(name, jobId);
      const cancel = new AbortController();
      const finish = (): void => {
        underway.delete(entry);
        work.done();
      };
      const guarded = async (): Promise<void> => {
        try {
          cancel.signal.throwIfAborted();
          await run(work, cancel.signal);
          onEnd?.({ how: 'done' });
        } catch (error) {
          if (cancel.signal.aborted) {
            onEnd?.({ how: 'canceled' });
            return;
          }
          onEnd?.({
            how: 'broken',
            error: error instanceof Error ? error : new Error(String(error)),
          });
          throw error;
        } finally {
          finish();
        }
      };
      const entry: Underway = {
        cancel,
        running: undefined,
        abandon: () => {
          onEnd?.({ how: 'canceled' });
          finish();
        },
      };
      underway.add(entry);
      const begin = (): Promise<void> => {
        entry.running = guarded();
        return entry.running;
      };
      if (spawn !== undefined) {
        spawn(name, begin);
        return;
      }
      begin().catch((error: unknown) => {
        // A task with an owner has told it what broke. Of one without, somebody must hear.
        if (onEnd === undefined) throw error;
      });
    },

    async cancelAll() {
      const ending = [...underway].map(async (entry) => {
        entry.cancel.abort(new DOMException('The fake Sume was reset or disposed.', 'AbortError'));
        if (entry.running === undefined) entry.abandon();
        else await entry.running;
      });
      // What broke has been told to its owner; the others must end all the same.
      await Promise.allSettled(ending);
    },
  };
}
