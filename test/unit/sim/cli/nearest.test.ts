import fc from 'fast-check';
import { expect, test } from 'vitest';
import { nearest } from '../../../../sim/cli/nearest.ts';

const NAMES = ['stale-poll', 'early-webhook', 'duplicate-webhook', 'lost-webhook', 'lost-answer'];

const anyName = fc.constantFrom(...NAMES);

test('a name with one slip is recognised first', () => {
  const slips = anyName.chain((name) =>
    fc
      .nat({ max: name.length - 2 })
      .chain((at) =>
        fc
          .constantFrom(
            name.slice(0, at) + name.slice(at + 1),
            name.slice(0, at) + 'x' + name.slice(at),
            name.slice(0, at) + 'x' + name.slice(at + 1),
            name.slice(0, at) + name.charAt(at + 1) + name.charAt(at) + name.slice(at + 2),
            name.toUpperCase(),
          )
          .map((typed) => ({ name, typed })),
      ),
  );
  fc.assert(
    fc.property(slips, ({ name, typed }) => {
      expect(nearest(typed, NAMES)[0]).toBe(name);
    }),
  );
});

test('the beginning of a name is enough', () => {
  expect(nearest('early', NAMES)).toEqual(['early-webhook']);
  expect(nearest('lost', NAMES)).toEqual(['lost-answer', 'lost-webhook']);
});

test.each(['', 'x', 'kubernetes'])('"%s" resembles nothing', (typed) => {
  expect(nearest(typed, NAMES)).toEqual([]);
});
