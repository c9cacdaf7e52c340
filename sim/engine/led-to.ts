import { conflict, type Footprint } from './footprint.ts';

/** What a step touched, and the step during which it was asked for, if any. */
interface Observed {
  readonly footprint: Footprint;
  /** Its index, or a negative number. */
  readonly cause: number;
}

/**
 * Indexes of the steps that led to the one at `last`, itself included, in order: whoever asked for it, whatever
 * touched before it what it touches, and so on back to the beginning. All others could as well have come later.
 */
export function ledTo(observed: readonly Observed[], last: number): number[] {
  const needed = new Set([last]);
  for (let index = last; index >= 0; index -= 1) {
    const step = observed[index];
    if (step === undefined || !needed.has(index)) continue;
    needed.add(step.cause);
    for (let before = 0; before < index; before += 1) {
      const earlier = observed[before];
      if (earlier !== undefined && conflict(earlier.footprint, step.footprint)) needed.add(before);
    }
  }
  return [...needed].filter((index) => index >= 0).toSorted((one, other) => one - other);
}
