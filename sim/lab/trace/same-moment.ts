import type { Run } from '../../index.ts';

/**
 * The step of another run of the same schedule that stands where `step` stands in this one: behind everything
 * that both have taken by then.
 */
export function sameMoment(run: Run, step: number, other: Run): number {
  if (step >= run.steps.length) return other.steps.length;
  const indexOf = new Map(other.steps.map(({ label, index }) => [label, index]));
  let moment = 0;
  for (const { label } of run.steps.slice(0, step)) {
    moment = Math.max(moment, indexOf.get(label) ?? 0);
  }
  return moment;
}
