import { getEventListeners } from 'node:events';
import { describe, expect, test } from 'vitest';
import { withTimeLimit } from '../../../src/time-limit.ts';
import { manualClock } from '../../setup/manual-clock.ts';

describe('work with a time limit', () => {
  const expired = (): Error => new Error('too late');
  const never = (): Promise<never> => new Promise(() => undefined);

  test('that ends in time gives its value, and leaves no timer', async () => {
    const clock = manualClock();
    expect(await withTimeLimit({ clock, ms: 10, expired }, () => Promise.resolve(7))).toBe(7);
    expect(clock.sleeping).toBe(0);
  });

  test('keeps no listener on a signal, so that whoever holds the signal longer holds nothing else', async () => {
    const clock = manualClock();
    const outer = new AbortController().signal;
    let inner: AbortSignal | undefined;
    await withTimeLimit({ clock, ms: 10, signal: outer, expired }, (signal) => {
      inner = signal;
      return Promise.resolve();
    });
    for (const signal of [inner, outer]) {
      if (signal === undefined) throw new Error('The work got no signal.');
      expect(getEventListeners(signal, 'abort')).toEqual([]);
    }
  });

  test('that fails gives its own error, and leaves no timer', async () => {
    const clock = manualClock();
    const failure = new Error('its own');
    await expect(
      withTimeLimit({ clock, ms: 10, expired }, () => Promise.reject(failure)),
    ).rejects.toBe(failure);
    expect(clock.sleeping).toBe(0);
  });

  test('that never ends is given up at the limit, not before, even if it does not listen', async () => {
    const clock = manualClock();
    let signal: AbortSignal | undefined;
    let settled = false;
    const limited = withTimeLimit({ clock, ms: 10, expired }, (given) => {
      signal = given;
      return never();
    });
    const observed = limited.catch((error: unknown) => {
      settled = true;
      return error;
    });
    clock.advance(9);
    await new Promise((resolve) => setImmediate(resolve));
    expect(settled).toBe(false);
    clock.advance(1);
    expect(await observed).toEqual(new Error('too late'));
    expect(signal?.aborted).toBe(true);
    expect(clock.sleeping).toBe(0);
  });

  test("ends with the caller's signal, with its reason, before or during the work", async () => {
    const clock = manualClock();
    const stop = new AbortController();
    const reason = new Error('shutting down');
    const limited = withTimeLimit({ clock, ms: 10, signal: stop.signal, expired }, never);
    stop.abort(reason);
    await expect(limited).rejects.toBe(reason);
    let started = false;
    await expect(
      withTimeLimit({ clock, ms: 10, signal: stop.signal, expired }, () => {
        started = true;
        return never();
      }),
    ).rejects.toBe(reason);
    expect(started).toBe(false);
    expect(clock.sleeping).toBe(0);
  });

  test('on a clock that fails it fails, instead of running without a limit', async () => {
    const failure = new Error('no timers here');
    const clock = { now: () => 0, sleep: () => Promise.reject(failure) };
    await expect(withTimeLimit({ clock, ms: 10, expired }, never)).rejects.toBe(failure);
  });
});
