import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createFakeClock } from '../../../../sim/fake-sume/index.ts';

describe('a clock that is moved by hand', () => {
  it('wakes everybody by due time, and those with the same by who slept first', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.nat(20), { maxLength: 30 }), async (durations) => {
        const clock = createFakeClock(1_000);
        const woken: { index: number; atMs: number }[] = [];
        const sleeping = durations.map(async (ms, index) => {
          await clock.sleep(ms);
          woken.push({ index, atMs: clock.now() });
        });
        for (let due = clock.nextDueMs(); due !== null; due = clock.nextDueMs()) {
          clock.moveTo(due);
          // The woken run before the clock goes on, because their sleeps resolve in this turn.
          await Promise.resolve();
          await Promise.resolve();
        }
        await Promise.all(sleeping);
        const expected = durations
          .map((ms, index) => ({ index, atMs: 1_000 + ms }))
          .sort((one, other) => one.atMs - other.atMs || one.index - other.index);
        expect(woken).toEqual(expected);
      }),
    );
  });

  it('wakes nobody early', async () => {
    const clock = createFakeClock(0);
    let awake = false;
    const sleeping = clock.sleep(10).then(() => (awake = true));
    clock.moveTo(9);
    await Promise.resolve();
    expect({ awake, now: clock.now(), due: clock.nextDueMs() }).toEqual({
      awake: false,
      now: 9,
      due: 10,
    });
    clock.moveTo(10);
    await sleeping;
    expect(clock.nextDueMs()).toBeNull();
  });

  it('forgets a sleeper whose signal aborts, and rejects with its reason', async () => {
    const clock = createFakeClock(0);
    const abort = new AbortController();
    const sleeping = clock.sleep(10, abort.signal);
    abort.abort(new Error('enough'));
    await expect(sleeping).rejects.toThrow('enough');
    expect(clock.nextDueMs()).toBeNull();
    await expect(clock.sleep(10, abort.signal)).rejects.toThrow('enough');
  });

  it('never moves back', () => {
    const clock = createFakeClock(5);
    expect(() => clock.moveTo(4)).toThrow(RangeError);
    expect(() => clock.moveTo(Number.NaN)).toThrow(RangeError);
    expect(() => createFakeClock(Number.POSITIVE_INFINITY)).toThrow(RangeError);
  });
});
