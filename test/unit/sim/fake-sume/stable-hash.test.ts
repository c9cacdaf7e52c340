import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { stableHash } from '../../../../sim/fake-sume/stable-hash.ts';

describe('a stable hash', () => {
  it('never changes from one version to the next: ids in recorded runs depend on it', () => {
    expect(stableHash('key', '0', 'order-1')).toBe('6185c9f5059af3a4d498829a');
  });

  it('keeps its parts apart', () => {
    expect(stableHash('ab', 'c')).not.toBe(stableHash('a', 'bc'));
    expect(stableHash('a', '')).not.toBe(stableHash('a'));
  });

  it('gives short, similar and random texts names of their own', () => {
    const texts = new Set<string>();
    for (let number = 0; number < 20_000; number += 1) texts.add(`job-${number}`);
    for (const text of fc.sample(fc.string(), 1_000)) texts.add(text);
    const names = new Set([...texts].map((text) => stableHash(text)));
    expect(names.size).toBe(texts.size);
    expect([...names].every((name) => /^[0-9a-f]{24}$/.test(name))).toBe(true);
    // Each part of the name alone is spread well: about n²/2³³ meetings are chance, and 5 are not.
    for (const start of [0, 8, 16]) {
      const parts = new Set([...names].map((name) => name.slice(start, start + 8)));
      expect(texts.size - parts.size).toBeLessThan(5);
    }
  });
});
