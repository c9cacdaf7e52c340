import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  canonicalJson,
  irregularJson,
  type JsonValue,
} from '../../../../sim/fake-sume/wire-json.ts';

const anyJson = fc.jsonValue() as fc.Arbitrary<JsonValue>;
const anyString = fc.string({ unit: 'binary' });

describe('irregular JSON', () => {
  it('means exactly what regular JSON means', () => {
    fc.assert(
      fc.property(anyJson, (value) => {
        expect(JSON.parse(irregularJson(value))).toEqual(JSON.parse(JSON.stringify(value)));
      }),
    );
  });

  it('keeps any text, lone surrogates and NUL included', () => {
    fc.assert(
      fc.property(anyString, (text) => {
        expect(JSON.parse(irregularJson({ '\0\ud800': text }))).toEqual({ '\0\ud800': text });
      }),
    );
    expect(JSON.parse(irregularJson('\udc00e\ud83d\ude00\0'))).toBe('\udc00e\ud83d\ude00\0');
  });

  it('is never what a serializer would write of it again', () => {
    fc.assert(
      fc.property(anyJson, (value) => {
        const written = irregularJson({ event: 'job.completed', value });
        expect(JSON.stringify(JSON.parse(written))).not.toBe(written);
        expect(JSON.stringify(JSON.parse(written), null, 2)).not.toBe(written);
      }),
    );
  });

  it('shows each irregularity that a receiver may trip over', () => {
    const written = irregularJson({ event: 'a/b', duration_seconds: 12, width: 12 });
    expect(written).toContain('\\u0065v');
    expect(written).toContain('a\\/b');
    expect(written).toContain('12.0');
    expect(written).toMatch(/\n/);
    // Whole numbers elsewhere stay integers: a strict client in another language wants them so.
    expect(written).toMatch(/"width" :12\D/);
  });

  it('leaves out fields that are undefined', () => {
    expect(JSON.parse(irregularJson({ a: undefined, b: 1 }))).toEqual({ b: 1 });
  });
});

describe('canonical JSON', () => {
  it('does not depend on the order of fields', () => {
    fc.assert(
      fc.property(fc.dictionary(anyString, anyJson), (fields) => {
        const backwards = Object.fromEntries(Object.entries(fields).toReversed());
        expect(canonicalJson(backwards)).toBe(canonicalJson(fields));
      }),
    );
  });

  it('tells different values apart', () => {
    fc.assert(
      fc.property(anyJson, anyJson, (one, other) => {
        fc.pre(JSON.stringify(one) !== JSON.stringify(other));
        if (canonicalJson(one) === canonicalJson(other)) {
          expect(JSON.parse(JSON.stringify(one))).toEqual(JSON.parse(JSON.stringify(other)));
        }
      }),
    );
    expect(canonicalJson({ a: [1, 2] })).not.toBe(canonicalJson({ a: [2, 1] }));
  });
});
