import type { Step } from '../engine/trace.ts';
import type { Run } from './run.ts';

/** Whether a step like this happened. */
export function happened(run: Run, is: (step: Step) => boolean): boolean {
  return run.steps.some(is);
}

/** Whether the first step like `earlier` came before some step like `later`. */
export function precedes(
  run: Run,
  earlier: (step: Step) => boolean,
  later: (step: Step) => boolean,
): boolean {
  const first = run.steps.findIndex(earlier);
  return first !== -1 && run.steps.slice(first + 1).some(later);
}
