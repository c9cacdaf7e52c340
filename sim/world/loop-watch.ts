import type { Run } from './run.ts';

/** Code under test that ran on and on. Nothing in its thread can end it: neither a timer nor a promise has a turn. */
export interface EndlessLoop {
  readonly seconds: number;
  /** The innermost line of the code under test that ran, if it could be told. */
  readonly where: string | null;
}

/** Notices that code does not give control back, which only another thread can. */
export interface LoopWatch {
  /**
   * Watches from now on. If the code loops, the process ends there, and not silently.
   *
   * @param soFar the schedule that is played, as far as it has come; null where none is.
   * @returns what ends the watch.
   */
  begin(soFar: ((loop: EndlessLoop) => Run) | null): () => void;
}

/** Whether the run was ended in a loop: it would not come back from another try either. */
export function hasEndlessLoop({ loop }: Pick<Run, 'loop'>): boolean {
  return loop !== undefined;
}

/** What happened, and what to do. */
export function describeLoop(who: string, { seconds, where }: EndlessLoop): string {
  return (
    `${who} ran for ${seconds} s without giving control back${where === null ? '' : `, in ${where}`}. Give the loop ` +
    'an end, or let it wait for a port each time round: until then nothing else in that process has a turn.'
  );
}
