import { visible } from '../report/visible.ts';
import { UsageError } from './usage-error.ts';

/**
 * A reader for options that take a whole number from `min` to `max`, written in digits alone. Refuses
 * everything else (signs, fractions, exponents, blanks), and an option that is given twice: the second value
 * would silently win.
 */
export function wholeNumber(
  option: string,
  min: number,
  max: number,
): (text: string, previous: number | undefined) => number {
  return (text, previous) => {
    if (previous !== undefined) throw new UsageError(`${option} is given twice; give it once`);
    const value = Number(text);
    if (!/^\d+$/.test(text) || value < min || value > max) {
      throw new UsageError(
        `${option} takes a whole number from ${min} to ${max}, and "${visible(text)}" is none`,
      );
    }
    return value;
  };
}
