import { expect, test } from 'vitest';
import { virtualTime } from '../../../../sim/report/virtual-time.ts';

test.each([
  [0, '0 s'],
  [250, '0.25 s'],
  [30_000, '30 s'],
  [630_000, '630 s'],
  [3_600_500, '3,600.5 s'],
  [12_345_678_000, '12,345,678 s'],
])('%i ms is shown in seconds', (timeMs, text) => {
  expect(virtualTime(timeMs)).toBe(text);
});
