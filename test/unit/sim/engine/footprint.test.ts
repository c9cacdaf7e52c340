import { describe, expect, it } from 'vitest';
import { contested } from '../../../../sim/engine/contested.ts';
import { createFootprint, type Footprint } from '../../../../sim/engine/footprint.ts';
import { ledTo } from '../../../../sim/engine/led-to.ts';

function footprint(reads: string[], writes: string[]): Footprint {
  const made = createFootprint();
  for (const name of reads) made.touch(name, 'read');
  for (const name of writes) made.touch(name, 'write');
  return made;
}

describe('what two steps race on', () => {
  it('is what both touch and one writes', () => {
    const one = footprint(['time', 'row:a'], ['row:b', 'row:c']);
    expect(contested(one, footprint(['row:b', 'time'], ['row:a']))).toEqual(['row:a', 'row:b']);
    expect(contested(one, footprint(['time', 'row:a'], []))).toEqual([]);
  });

  it('is named by the one, where the other reads all of a kind', () => {
    expect(contested(footprint(['row:*'], []), footprint([], ['row:a', 'time']))).toEqual([
      'row:a',
    ]);
  });

  it('is all that the one touches, where the other may write anything', () => {
    expect(contested(footprint([], ['*']), footprint(['row:a'], []))).toEqual(['row:a']);
  });
});

describe('what led to a step', () => {
  it('is whoever asked for it, and what touched before it what it touches, back to the beginning', () => {
    const observed = [
      { footprint: footprint([], ['x']), cause: -1 },
      { footprint: footprint([], ['unrelated']), cause: -1 },
      { footprint: footprint(['x'], ['y']), cause: -1 },
      { footprint: footprint([], ['z']), cause: 2 },
      { footprint: footprint([], ['y']), cause: -1 },
      { footprint: footprint(['z'], []), cause: -1 },
    ];
    expect(ledTo(observed, 5)).toEqual([0, 2, 3, 5]);
    expect(ledTo(observed, 1)).toEqual([1]);
  });
});
