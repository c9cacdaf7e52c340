import fc from 'fast-check';
import { expect, it } from 'vitest';
import { smallestSublist } from '../../../../sim/world/smallest-sublist.ts';

it('keeps, in order, what a failure needs and nothing else', async () => {
  const list = Array.from({ length: 40 }, (_, index) => index);
  await fc.assert(
    fc.asyncProperty(fc.subarray(list), async (needed) => {
      const found = await smallestSublist(list, (sublist) =>
        Promise.resolve(needed.every((item) => sublist.includes(item))),
      );
      expect(found).toEqual(needed);
    }),
  );
});

it('asks nothing about an empty list, nor about the whole', async () => {
  const asked: (readonly number[])[] = [];
  const fails = (sublist: readonly number[]): Promise<boolean> => {
    asked.push(sublist);
    return Promise.resolve(false);
  };
  expect(await smallestSublist([], fails)).toEqual([]);
  expect(await smallestSublist([1, 2], fails)).toEqual([1, 2]);
  expect(asked).not.toContainEqual([1, 2]);
});
