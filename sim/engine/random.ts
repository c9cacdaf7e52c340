/**
 * Randomness that a seed decides. This is the one file that may draw from the machine: `freshSeed`, for a
 * person who named no seed; everything after it follows from the number it returned.
 */
export interface Random {
  /** A whole number in `[0, 2^32)`. */
  next(): number;
  /** A whole number in `[0, bound)`. `bound` is a whole number from 1 to 2^32. */
  int(bound: number): number;
  /** A number in `[0, 1)`. */
  float(): number;
  /** True with the given probability. */
  chance(probability: number): boolean;
  /** One of the items, which must not be empty. */
  pick<T>(items: readonly T[]): T;
  /**
   * A generator of its own, decided by this one's seed and the key alone: not by how much was drawn before.
   * Draws keyed by what they are for stay the same when other draws come or go.
   */
  fork(key: string): Random;
}

/** The largest seed: what a person can type and a JSON number can hold. */
export const MAX_SEED: number = 2 ** 32 - 1;

/** A generator (sfc32) whose whole sequence follows from `seed`, a whole number from 0 to `MAX_SEED`. */
export function createRandom(seed: number): Random {
  if (!Number.isInteger(seed) || seed < 0 || seed > MAX_SEED) {
    throw new RangeError(`The seed ${String(seed)} is not a whole number from 0 to ${MAX_SEED}.`);
  }
  return generator(String(seed));
}

/** A seed from the machine's own entropy, for a run that nobody gave one. */
export function freshSeed(): number {
  const drawn = crypto.getRandomValues(new Uint32Array(1));
  return drawn[0] ?? 0;
}

function generator(name: string): Random {
  let a = hash(name, 0x9e3779b9);
  let b = hash(name, 0x243f6a88);
  let c = hash(name, 0xb7e15162);
  let counter = 1;
  const next = (): number => {
    const sum = (((a + b) | 0) + counter) | 0;
    counter = (counter + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = ((c << 21) | (c >>> 11)) + sum;
    c |= 0;
    return sum >>> 0;
  };
  // The first outputs still resemble the seed.
  for (let round = 0; round < 12; round += 1) next();
  const int = (bound: number): number => {
    if (!Number.isInteger(bound) || bound < 1 || bound > 2 ** 32) {
      throw new RangeError(
        `Cannot draw below ${bound}: the bound is a whole number from 1 to 2^32.`,
      );
    }
    // Rejection keeps every value equally likely.
    const limit = 2 ** 32 - (2 ** 32 % bound);
    let drawn = next();
    while (drawn >= limit) drawn = next();
    return drawn % bound;
  };
  const float = (): number => next() / 2 ** 32;
  return {
    next,
    int,
    float,
    chance: (probability) => float() < probability,
    pick: (items) => {
      const item = items[int(items.length)];
      return item as (typeof items)[number];
    },
    fork: (key) => generator(`${name}/${key}`),
  };
}

/** FNV-1a over UTF-16 units with a final avalanche, so that neighbouring names part in every bit. */
function hash(text: string, basis: number): number {
  let value = basis | 0;
  for (let index = 0; index < text.length; index += 1) {
    value = Math.imul(value ^ text.charCodeAt(index), 0x01000193);
  }
  value = Math.imul(value ^ (value >>> 16), 0x85ebca6b);
  value = Math.imul(value ^ (value >>> 13), 0xc2b2ae35);
  return value ^ (value >>> 16);
}
