import { describe, expect, it } from 'vitest';
import { createFakeClock } from '../../../../sim/fake-sume/index.ts';
import { createRunningClock } from '../../../../sim/fake-sume/running-clock.ts';

/** Lets everything that is ready run, without any timer. */
async function turns(): Promise<void> {
  for (let count = 0; count < 20; count += 1) await Promise.resolve();
}

describe('a clock that runs by itself', () => {
  it('runs as many times as fast as it was told', async () => {
    const machine = createFakeClock(1_000);
    const clock = createRunningClock(60, machine);
    const woken: number[] = [];
    const sleeping = clock.sleep(30_000).then(() => woken.push(clock.now()));
    machine.moveTo(1_499);
    await turns();
    expect([clock.now(), woken]).toEqual([1_000 + 499 * 60, []]);
    machine.moveTo(1_500);
    await sleeping;
    expect(woken).toEqual([31_000]);
  });

  it('can be moved ahead: who is due wakes in order, the others sleep that much less', async () => {
    const machine = createFakeClock(0);
    const clock = createRunningClock(1, machine);
    const woken: string[] = [];
    const sleep = (name: string, ms: number): Promise<unknown> =>
      clock.sleep(ms).then(() => woken.push(`${name} at ${clock.now()}`));
    const all = [sleep('late', 50_000), sleep('second', 20_000), sleep('first', 10_000)];
    expect(clock.nextDueMs()).toBe(10_000);
    clock.moveTo(30_000);
    await turns();
    expect(woken).toEqual(['first at 30000', 'second at 30000']);
    expect(clock.nextDueMs()).toBe(50_000);
    machine.moveTo(19_999);
    await turns();
    expect(woken).toHaveLength(2);
    machine.moveTo(20_000);
    await Promise.all(all);
    expect(woken[2]).toBe('late at 50000');
    expect([clock.nextDueMs(), machine.nextDueMs()]).toEqual([null, null]);
    expect(() => clock.moveTo(0)).toThrow(RangeError);
  });

  it('leaves no timer of the machine behind when a sleep is aborted', async () => {
    const machine = createFakeClock(0);
    const clock = createRunningClock(1, machine);
    const abort = new AbortController();
    const sleeping = clock.sleep(1_000, abort.signal);
    abort.abort(new Error('enough'));
    await expect(sleeping).rejects.toThrow('enough');
    await expect(clock.sleep(1, abort.signal)).rejects.toThrow('enough');
    expect([clock.nextDueMs(), machine.nextDueMs()]).toEqual([null, null]);
  });

  it('sleeps longer than one timer of the machine can', async () => {
    const machine = createFakeClock(0);
    const clock = createRunningClock(1, machine);
    let awake = false;
    const sleeping = clock.sleep(2 ** 31 + 5).then(() => (awake = true));
    machine.moveTo(2 ** 31 - 1);
    await turns();
    expect(awake).toBe(false);
    machine.moveTo(2 ** 31 + 5);
    await sleeping;
  });

  it('passes on what breaks in the machine’s clock', async () => {
    const broken = { now: () => 0, sleep: () => Promise.reject(new Error('no timer')) };
    await expect(createRunningClock(1, broken).sleep(5)).rejects.toThrow('no timer');
  });

  it.each([0, -1, Number.NaN, Number.POSITIVE_INFINITY])('cannot run %d times as fast', (scale) => {
    expect(() => createRunningClock(scale, createFakeClock(0))).toThrow(RangeError);
  });
});
