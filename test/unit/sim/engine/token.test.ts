import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodeToken, encodeToken, TokenError, type Recipe } from '../../../../sim/engine/token.ts';

const recipes: fc.Arbitrary<Recipe> = fc.record({
  scenario: fc.string(),
  integration: fc.string(),
  database: fc.constantFrom('pglite' as const, 'postgres' as const),
  seed: fc.option(fc.nat()),
  faults: fc.nat(9),
  deviations: fc.array(
    fc.record({ after: fc.string({ unit: 'binary' }), take: fc.string({ unit: 'grapheme' }) }),
  ),
  rule: fc.constantFrom(1 as const, 2 as const),
  without: fc.array(fc.string()),
});

const codeOf = (token: string): string => {
  try {
    decodeToken(token);
    return 'no error';
  } catch (error) {
    return error instanceof TokenError ? error.code : String(error);
  }
};

describe('a token', () => {
  it('gives back the recipe that it was made of', () => {
    fc.assert(
      fc.property(recipes, (recipe) => {
        expect(decodeToken(encodeToken(recipe))).toEqual(recipe);
      }),
      { numRuns: 50 },
    );
  });

  it('is fit for a shell and a URL as it stands', () => {
    fc.assert(
      fc.property(recipes, (recipe) => {
        expect(encodeToken(recipe)).toMatch(/^sume1-[\w-]+$/);
      }),
    );
  });

  it('is refused when any one character is changed, lost or added', () => {
    fc.assert(
      fc.property(recipes, fc.nat(), fc.constantFrom('A', 'z', '_'), (recipe, at, other) => {
        const token = encodeToken(recipe);
        const index = 6 + (at % (token.length - 6));
        const cut = token.slice(0, index) + token.slice(index + 1);
        expect(codeOf(cut)).toBe('token_mangled');
        const changed = token.slice(0, index) + other + token.slice(index + 1);
        if (changed !== token) expect(codeOf(changed)).toBe('token_mangled');
        expect(codeOf(`${token}${other}`)).toBe('token_mangled');
      }),
    );
  });

  it('says when it is of another format, or none at all', () => {
    expect(codeOf('sume2-abc')).toBe('token_format');
    for (const text of ['', 'hello', 'SUME1-abc', '🦊']) expect(codeOf(text)).toBe('token_format');
    for (const text of ['sume1-', 'sume1-!', 'sume1-AAAA']) {
      expect(codeOf(text)).toBe('token_mangled');
    }
  });
});
