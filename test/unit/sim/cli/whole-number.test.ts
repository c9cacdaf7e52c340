import fc from 'fast-check';
import { expect, test } from 'vitest';
import { UsageError } from '../../../../sim/cli/usage-error.ts';
import { wholeNumber } from '../../../../sim/cli/whole-number.ts';

const seed = wholeNumber('--seed', 0, 4_294_967_295);

test('every number within the limits is read as it is', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 4_294_967_295 }), (value) => {
      expect(seed(String(value), undefined)).toBe(value);
    }),
  );
});

test.each(['', ' ', '-1', '+1', '1.5', '1e9', '1e99', '0x10', 'NaN', '4294967296', '1 2', '٣'])(
  '"%s" is refused, and named',
  (text) => {
    const read = (): number => seed(text, undefined);
    expect(read).toThrow(UsageError);
    expect(read).toThrow(`"${text}"`);
    expect(read).toThrow('from 0 to 4294967295');
  },
);

test('an option given twice is refused: the second would silently win', () => {
  expect(() => seed('2', 1)).toThrow(UsageError);
});
