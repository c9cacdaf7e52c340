import { InputError } from './errors.ts';

/**
 * The deepest nesting that is sent to `jsonb`. PostgreSQL itself stops near 6,000 levels with an error, but on
 * PGlite the same document overflows the WebAssembly stack and leaves the database unusable, so the limit has
 * to be ours, with room to spare for browsers.
 */
const MAX_DEPTH = 1_000;

/**
 * The JSON text under which a value can go into a `jsonb` column, with what `jsonb` cannot hold (NUL, lone
 * surrogates) replaced by U+FFFD in keys and values. Null when there is nothing to store (`undefined`,
 * `null`) or when no text would be the same value: nested too deep, or a number out of range. Throws an
 * `InputError` for what is not JSON at all, such as a cycle or a bigint.
 */
export function storableJson(value: unknown): string | null {
  if (value === undefined || value === null) return null;
  const text = stringified(value);
  if (text === null) return null;
  // Each test below is skipped where the text itself shows that it cannot fail: this is on the path of every
  // webhook, and nearly every result is small and plain.
  if (text.includes('null') && holdsInfinity(value)) return null;
  if (text.length > 2 * MAX_DEPTH && depthOf(text) > MAX_DEPTH) return null;
  return text.includes('\\u') ? withoutUnstorable(text) : text;
}

/** A text as a `text` column can hold it: NUL becomes U+FFFD, as in `jsonb`. */
export function storableText(text: string): string {
  return text.includes('\0') ? text.replaceAll('\0', '\uFFFD') : text;
}

/**
 * Works on text that JSON.stringify made: there a lone surrogate is always an escape and a pair never is, so
 * one pass over the escapes finds exactly what `jsonb` refuses. An escaped backslash is taken as a pair, or
 * the text `\\u0000` (a backslash and five characters) would be cut in half.
 */
function withoutUnstorable(json: string): string {
  return json.replaceAll(/\\(?:u0000|ud[89a-f][0-9a-f]{2}|.)/g, (escape) =>
    // An escape that matched whole is six characters; any other match is the backslash and one more.
    escape.length === 6 ? '\uFFFD' : escape,
  );
}

/** Null for a value that is too large to write. */
function stringified(value: unknown): string | null {
  let text: string | undefined;
  try {
    text = JSON.stringify(value);
  } catch (error) {
    // The only RangeErrors here are a stack that is too small for the depth and a text that is too long.
    if (error instanceof RangeError) return null;
    throw new InputError(
      `The value cannot be written as JSON: ${String(error)}. Pass what JSON.parse returned.`,
      { cause: error },
    );
  }
  if (text === undefined) {
    throw new InputError(`A ${typeof value} is not JSON. Pass what JSON.parse returned.`);
  }
  return text;
}

/** JSON.parse reads 1e400 as Infinity, and JSON.stringify would write it as null. */
function holdsInfinity(value: unknown): boolean {
  let found = false;
  JSON.stringify(value, (_key, part: unknown) => {
    if (typeof part === 'number' && !Number.isFinite(part)) found = true;
    return part;
  });
  return found;
}

function depthOf(json: string): number {
  let depth = 0;
  let deepest = 0;
  let inString = false;
  for (let index = 0; index < json.length; index += 1) {
    const char = json[index];
    if (inString) {
      if (char === '\\') index += 1;
      else if (char === '"') inString = false;
    } else if (char === '"') inString = true;
    else if (char === '[' || char === '{') deepest = Math.max(deepest, (depth += 1));
    else if (char === ']' || char === '}') depth -= 1;
  }
  return deepest;
}
