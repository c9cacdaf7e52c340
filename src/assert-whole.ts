import { InputError } from './errors.ts';

/** The largest that PostgreSQL takes for a time limit or a row count kept in an `int`. */
const MAX = 2_147_483_647;

/** Throws an `InputError` unless the value is a whole number of at least `least` (1 by default). */
export function assertWhole(name: string, value: number, least: number = 1): void {
  if (Number.isSafeInteger(value) && value >= least && value <= MAX) return;
  throw new InputError(
    `${name} is ${String(value)}; it must be a whole number from ${least} to ${MAX}.`,
  );
}
