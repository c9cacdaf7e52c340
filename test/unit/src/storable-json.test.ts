import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { InputError } from '../../../src/errors.ts';
import { storableJson, storableText } from '../../../src/storable-json.ts';

/** What a text becomes, said another way than the code says it. */
const replaced = (text: string): string =>
  Array.from(text, (char) => {
    const code = char.codePointAt(0) ?? 0;
    return code === 0 || (code >= 0xd800 && code <= 0xdfff) ? '\uFFFD' : char;
  }).join('');

const replacedDeep = (value: unknown): unknown => {
  if (typeof value === 'string') return replaced(value);
  if (Array.isArray(value)) return value.map(replacedDeep);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, part]) => [replaced(key), replacedDeep(part)]),
  );
};

/** Any UTF-16, unpaired halves and NUL among it, with backslashes to trip over. */
const rough = fc
  .array(fc.constantFrom('\\', 'u', '0', '"', '\0', '\ud83d', '\ude00', 'd', '8', 'é', '\n'))
  .map((parts) => parts.join(''));

describe('the JSON text for a jsonb column', () => {
  test('is the value, with only NUL and lone surrogates replaced', () => {
    fc.assert(
      fc.property(
        fc.jsonValue({ stringUnit: 'binary' }).filter((value) => value !== null),
        (value) => {
          const text = storableJson(value) ?? '';
          // Through JSON once: what it cannot say (-0) is not what this is about.
          expect(JSON.parse(text)).toEqual(replacedDeep(JSON.parse(JSON.stringify(value))));
        },
      ),
    );
    fc.assert(
      fc.property(rough, rough, (key, text) => {
        const stored = storableJson({ [key]: [text] }) ?? '';
        expect(JSON.parse(stored)).toEqual(replacedDeep({ [key]: [text] }));
        expect(stored).not.toMatch(/(?<!\\)(\\\\)*\\u(0000|d[89a-f])/i);
      }),
    );
  });

  test('keeps a key that JavaScript would take for something else', () => {
    expect(storableJson(JSON.parse('{"__proto__":1,"constructor":2}'))).toBe(
      '{"__proto__":1,"constructor":2}',
    );
  });

  test('is nothing for nothing', () => {
    expect(storableJson(undefined)).toBeNull();
    expect(storableJson(null)).toBeNull();
  });

  test.each(['1e400', '-1e400', '{"a":[1,1e999]}'])(
    'is nothing for %s, which JavaScript reads as infinite',
    (json) => {
      expect(storableJson(JSON.parse(json))).toBeNull();
    },
  );

  test.each([
    ['arrays', '[', ']', '1'],
    ['objects', '{"a":', '}', '1'],
  ])('holds 1,000 levels of %s and not one more', (_name, open, close, core) => {
    const nested = (depth: number): unknown =>
      JSON.parse(open.repeat(depth) + core + close.repeat(depth));
    expect(storableJson(nested(1_000))).not.toBeNull();
    expect(storableJson(nested(1_001))).toBeNull();
    expect(storableJson(nested(100_000))).toBeNull();
  });

  test('brackets and quotes inside texts are not levels', () => {
    expect(storableJson({ a: '['.repeat(5_000), ['\\"{'.repeat(2_000)]: 1 })).not.toBeNull();
  });

  test('what is not JSON is refused, and says so', () => {
    const cycle: Record<string, unknown> = {};
    cycle['self'] = cycle;
    expect(() => storableJson(cycle)).toThrow(InputError);
    expect(() => storableJson(10n)).toThrow(InputError);
    expect(() => storableJson(() => 1)).toThrow(InputError);
  });
});

test('the text for a text column has U+FFFD for NUL and is the same otherwise', () => {
  expect(storableText('a\0b\0')).toBe('a\uFFFDb\uFFFD');
  expect(storableText('plain \\u0000')).toBe('plain \\u0000');
});
