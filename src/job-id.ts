import { InputError } from './errors.ts';

/** The longest id that is taken, in characters (code points). */
export const MAX_JOB_ID_LENGTH = 200;

/**
 * Why a value cannot be a job id, or null when it can. Ids are opaque, so nothing is trimmed or folded; what
 * is refused is what a text key cannot hold exactly: NUL, and lone surrogates, which would all become the
 * same replacement character.
 */
export function jobIdFault(value: unknown): string | null {
  if (typeof value !== 'string') return 'is not a string';
  if (value === '') return 'is empty';
  if (value.length > MAX_JOB_ID_LENGTH && isTooLong(value)) {
    return `is longer than ${MAX_JOB_ID_LENGTH} characters`;
  }
  if (value.includes('\0')) return 'holds a NUL character';
  if (/\p{Surrogate}/u.test(value)) return 'holds a lone surrogate';
  return null;
}

/** A character is one or two code units: only between the two lengths is there something to count. */
function isTooLong(value: string): boolean {
  return value.length > 2 * MAX_JOB_ID_LENGTH || Array.from(value).length > MAX_JOB_ID_LENGTH;
}

/** Throws an `InputError` unless the value can be a job id. */
export function assertJobId(value: unknown): asserts value is string {
  const fault = jobIdFault(value);
  if (fault === null) return;
  const shown = typeof value === 'string' ? JSON.stringify(value.slice(0, 60)) : typeof value;
  throw new InputError(`The job id ${shown} ${fault}. Pass the id exactly as Sume gave it.`);
}
