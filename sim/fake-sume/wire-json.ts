import { FLOAT_FIELDS } from './assumptions.ts';

/** Any JSON value. */
export type JsonValue = null | boolean | number | string | JsonValue[] | JsonObject;

/** A JSON object. A field that is undefined is left out, as JSON.stringify does. */
export interface JsonObject {
  [field: string]: JsonValue | undefined;
}

/**
 * Writes JSON that is valid but that no serializer would write again in the same way: odd spacing, `\/` and
 * `\u0065` for `/` and the first `e` of a string, and `12.0` for whole numbers in floating-point fields. A
 * receiver that verifies a signature over parsed and re-written JSON fails on it. The same value always
 * gives the same text.
 *
 * @param value any JSON value; strings may hold NUL and lone surrogates, which go out escaped.
 */
export function irregularJson(value: JsonValue): string {
  return write(value, '');
}

function write(value: JsonValue, field: string): string {
  if (typeof value === 'string') return writeString(value);
  if (typeof value === 'number') {
    return FLOAT_FIELDS.has(field) && Number.isSafeInteger(value)
      ? `${value}.0`
      : JSON.stringify(value);
  }
  if (Array.isArray(value)) return `[ ${value.map((item) => write(item, field)).join(' ,')}]`;
  if (value !== null && typeof value === 'object') {
    const fields = Object.entries(value).flatMap(([name, inner]) =>
      inner === undefined ? [] : [`${writeString(name)} :${write(inner, name)}`],
    );
    return `{\n  ${fields.join(',\n  ')} }`;
  }
  return JSON.stringify(value);
}

function writeString(text: string): string {
  let escapedAnE = false;
  let written = '"';
  // By code point, so that a surrogate pair stays whole and a lone surrogate is escaped by JSON.stringify.
  for (const character of text) {
    if (character === '/') {
      written += '\\/';
    } else if (character === 'e' && !escapedAnE) {
      written += '\\u0065';
      escapedAnE = true;
    } else {
      written += JSON.stringify(character).slice(1, -1);
    }
  }
  return `${written}"`;
}

/**
 * The same text for the same value, whatever the order of its fields: what idempotency compares.
 */
export function canonicalJson(value: JsonValue): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  if (value === null || typeof value !== 'object') return JSON.stringify(value);
  const fields = Object.keys(value)
    .sort()
    .flatMap((name) => {
      const inner = value[name];
      return inner === undefined ? [] : [`${JSON.stringify(name)}:${canonicalJson(inner)}`];
    });
  return `{${fields.join(',')}}`;
}
