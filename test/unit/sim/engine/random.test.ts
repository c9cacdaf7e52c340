import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createRandom, MAX_SEED } from '../../../../sim/engine/random.ts';

const seeds = fc.integer({ min: 0, max: MAX_SEED });
const draw = (seed: number, count: number): number[] => {
  const random = createRandom(seed);
  return Array.from({ length: count }, () => random.next());
};

describe('a seeded generator', () => {
  it('gives the same numbers for the same seed, and others for another', () => {
    fc.assert(
      fc.property(seeds, seeds, (one, other) => {
        expect(draw(one, 20)).toEqual(draw(one, 20));
        if (one !== other) expect(draw(one, 4)).not.toEqual(draw(other, 4));
      }),
    );
  });

  it('keeps a fork the same however much was drawn before it', () => {
    fc.assert(
      fc.property(seeds, fc.string(), fc.nat(20), (seed, key, drawn) => {
        const fresh = createRandom(seed);
        const used = createRandom(seed);
        for (let index = 0; index < drawn; index += 1) used.next();
        expect(used.fork(key).next()).toBe(fresh.fork(key).next());
      }),
    );
  });

  it('spreads whole numbers evenly below a bound', () => {
    const random = createRandom(7);
    const counts = [0, 0, 0, 0, 0, 0, 0];
    for (let index = 0; index < 70_000; index += 1) {
      const drawn = random.int(7);
      counts[drawn] = (counts[drawn] ?? 0) + 1;
    }
    for (const count of counts) expect(Math.abs(count - 10_000)).toBeLessThan(500);
  });

  it('refuses a seed or a bound that is none', () => {
    for (const seed of [-1, 0.5, Number.NaN, 2 ** 32, Infinity]) {
      expect(() => createRandom(seed)).toThrow(RangeError);
    }
    for (const bound of [0, -1, 1.5, 2 ** 33]) {
      expect(() => createRandom(1).int(bound)).toThrow(RangeError);
    }
  });
});
