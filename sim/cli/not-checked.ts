import { paragraph } from '../report/paragraph.ts';
import type { Palette } from '../report/palette.ts';
import type { Context } from './context.ts';

/** What stands below a pass: it says nothing of what could not be judged. */
export function notChecked(
  { unchecked = [] }: Context,
  options: { width: number; palette?: Palette },
): string[] {
  return unchecked.flatMap((sentence) => paragraph('Not checked', sentence, options));
}
