import { nearest } from './nearest.ts';

/** The question that a mistyped name deserves, or null where nothing resembles it. */
export function didYouMean(given: string, candidates: readonly string[]): string | null {
  const near = nearest(given, candidates);
  return near.length === 0 ? null : `did you mean ${near.map((name) => `"${name}"`).join(' or ')}?`;
}
