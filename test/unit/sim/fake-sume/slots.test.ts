import { describe, expect, it } from 'vitest';
import { createSlots } from '../../../../sim/fake-sume/slots.ts';

describe('places for so many at once', () => {
  it('go to those who wait, in their order, and never to more', async () => {
    const slots = createSlots(2);
    const inside = new Set<number>();
    const order: number[] = [];
    let most = 0;
    const { signal } = new AbortController();
    const visit = async (number: number): Promise<void> => {
      await slots.take(signal);
      inside.add(number);
      order.push(number);
      most = Math.max(most, inside.size);
      await Promise.resolve();
      inside.delete(number);
      slots.give();
    };
    await Promise.all([1, 2, 3, 4, 5].map(visit));
    expect([order, most]).toEqual([[1, 2, 3, 4, 5], 2]);
    // Places that were handed on in line are no more places than before.
    await Promise.all([6, 7, 8, 9].map(visit));
    expect(most).toBe(2);
  });

  it('are not taken by someone who gave up', async () => {
    const slots = createSlots(1);
    const { signal } = new AbortController();
    const impatient = new AbortController();
    await slots.take(signal);
    const waiting = slots.take(impatient.signal);
    const next = slots.take(signal);
    impatient.abort(new Error('enough'));
    await expect(waiting).rejects.toThrow('enough');
    slots.give();
    await next;
    slots.give();
    await slots.take(signal);
  });
});
