import fc from 'fast-check';

/**
 * A sublist, in order, of which `fails` is still true, and from which no item can be left out: fast-check's
 * shrinking of a subarray. `fails` is taken to be true of the whole list, and is not asked about it.
 */
export async function smallestSublist<Item>(
  items: readonly Item[],
  fails: (sublist: readonly Item[]) => Promise<boolean>,
): Promise<readonly Item[]> {
  if (items.length === 0) return items;
  const whole = [...items];
  let smallest: readonly Item[] = whole;
  await fc.check(
    fc.asyncProperty(fc.subarray(whole), async (sublist) => {
      if (sublist.length < whole.length && !(await fails(sublist))) return;
      smallest = sublist;
      throw new Error('It still fails.');
    }),
    // The example is what fast-check shrinks from; nothing is drawn.
    { examples: [[whole]], numRuns: 1, seed: 1 },
  );
  return smallest;
}
