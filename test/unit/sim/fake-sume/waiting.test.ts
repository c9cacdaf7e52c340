import { afterEach, describe, expect, it, vi } from 'vitest';
import {
  createFakeClock,
  createFakeSume,
  StillWaitingError,
  systemClock,
  type FakeSume,
} from '../../../../sim/fake-sume/index.ts';
import { ask, submitJob } from './ask.ts';
import { createReceiver } from './receiver.ts';

const refusing = createReceiver(() => new Response(null, { status: 500 }));

describe('settling', () => {
  it('waits for slow receivers, and for nothing else', async () => {
    let finish = (): void => {};
    const slow = new Promise<void>((resolve) => (finish = resolve));
    const receiver = createReceiver(async () => {
      await slow;
      return new Response('ok');
    });
    const fake = createFakeSume({ secrets: ['s'], send: receiver.send });
    await fake.control.complete(await submitJob(fake));
    let settled = false;
    const settling = fake.control.settle().then(() => (settled = true));
    await expect.poll(() => receiver.received.length).toBe(1);
    expect(settled).toBe(false);
    finish();
    await settling;
    expect(fake.deliveries[0]?.state).toBe('delivered');
    await fake.control.settle();
  });

  it('says what is held and what waits for a clock that stands still', async () => {
    const fake = createFakeSume({
      secrets: ['s'],
      jobId: (key) => `job_${key}`,
      send: refusing.send,
      clock: createFakeClock(0),
    });
    const [a, b] = [await submitJob(fake, { key: 'a' }), await submitJob(fake, { key: 'b' })];
    fake.control.holdDeliveries({ jobId: a });
    await fake.control.complete(a);
    await fake.control.complete(b);
    await fake.control.advance(10_000);
    const answers = fake.control.holdAnswers('me');
    const asking = ask(fake, 'GET', '/me');
    await answers.arrived();
    const error: unknown = await fake.control.settle().catch((caught: unknown) => caught);
    if (!(error instanceof StillWaitingError)) throw error;
    expect(error.code).toBe('still_waiting');
    expect(error.waitingFor).toEqual([
      'webhook/job_a, attempt 1, is held: release it with release() of its hold, or POST /__sim/holds/{holdId}/release.',
      "webhook/job_b, attempt 2, is due in 20000 ms of the fake's own clock, which stands still: move it with control.advance(20000).",
      'The answer to GET /v1/me is held: release it with release() of its hold, or POST /__sim/holds/{holdId}/release.',
    ]);
    expect(error.message).toContain(error.waitingFor[1]);
    await expect(fake.control.settle({ jobId: b })).rejects.toThrow(/webhook\/job_b/);
    answers.release();
    await asking;
    await fake.dispose();
  });

  it('goes on by itself in real time', async () => {
    // A clock that runs a thousand times as fast as the machine's.
    const fake = createFakeSume({
      secrets: ['s'],
      send: refusing.send,
      clock: {
        now: () => systemClock.now() * 1_000,
        sleep: (ms, signal) => systemClock.sleep(ms / 1_000, signal),
      },
    });
    await fake.control.complete(await submitJob(fake));
    await fake.control.settle();
    expect(fake.deliveries[0]).toMatchObject({ state: 'given-up' });
    expect(fake.deliveries[0]?.attempts).toHaveLength(10);
    await expect(fake.control.advance(1)).rejects.toThrow(/cannot be moved/);
  });

  it('does not wait for ever for a receiver that hangs', async () => {
    const fake = createFakeSume({
      secrets: ['s'],
      send: () => new Promise(() => {}),
      clock: createFakeClock(0),
    });
    await fake.control.complete(await submitJob(fake, { key: 'a' }));
    await expect(fake.control.settle()).rejects.toThrow(
      /no answer from https:\/\/app\.example\/hook yet; its time limit ends in 10000 ms/,
    );
    await fake.dispose();
    await fake.control.settle();
    expect(fake.deliveries[0]).toMatchObject({
      state: 'canceled',
      attempts: [{ failure: { reason: 'canceled' } }],
    });
  });
});

describe('moving the clock', () => {
  it('lets everything that is due happen at its own time', async () => {
    const clock = createFakeClock(0);
    const seen: [string, number][] = [];
    const fake = createFakeSume({
      secrets: ['s'],
      clock,
      jobId: (key) => key,
      send: async (_request, attempt) => {
        seen.push([attempt.jobId, clock.now()]);
        return new Response(null, { status: 500 });
      },
    });
    await fake.control.complete(await submitJob(fake, { key: 'a' }));
    await fake.control.advance(7_000);
    await fake.control.complete(await submitJob(fake, { key: 'b' }));
    await fake.control.advance(60_000);
    expect(seen).toEqual([
      ['a', 0],
      ['b', 7_000],
      ['a', 30_000],
      ['b', 37_000],
      ['a', 60_000],
      ['b', 67_000],
    ]);
    expect(clock.now()).toBe(67_000);
    await expect(fake.control.advance(-1)).rejects.toMatchObject({ code: 'bad_control' });
    await expect(fake.control.advance(Number.NaN)).rejects.toMatchObject({ code: 'bad_control' });
    await fake.dispose();
  });
});

describe('faked timers of a test runner', () => {
  afterEach(() => {
    vi.useRealTimers();
  });

  const retriedOnce = async (fake: FakeSume): Promise<void> => {
    await fake.control.complete(await submitJob(fake));
    await expect(fake.control.settle()).rejects.toThrow(/control\.advance\(30000\)/);
    await fake.control.advance(30_000);
    await fake.control.settle();
    expect(fake.deliveries[0]?.attempts).toHaveLength(2);
  };
  const failingOnce = (): ReturnType<typeof createReceiver> => {
    let calls = 0;
    return createReceiver(() => new Response(null, { status: (calls += 1) === 1 ? 500 : 200 }));
  };

  it('that fake the date alone set the time that webhooks are stamped with', async () => {
    vi.useFakeTimers({ toFake: ['Date'], now: 1_600_000_000_000 });
    const receiver = failingOnce();
    const fake = createFakeSume({ secrets: ['s'], send: receiver.send });
    await retriedOnce(fake);
    // The fake's own clock was moved; the receiver's was not, and would refuse what is too new for it.
    expect(receiver.received.map(({ attempt }) => attempt.timestamp)).toEqual([
      1_600_000_000, 1_600_000_000,
    ]);
  });

  it('that fake everything do not stop it', async () => {
    // All but queueMicrotask and nextTick, which Vitest leaves alone by itself: Node's own Request needs them.
    vi.useFakeTimers();
    const fake = createFakeSume({ secrets: ['s'], send: failingOnce().send });
    await retriedOnce(fake);
  });

  it('do not make it wait for ever for a receiver that waits for them', async () => {
    vi.useFakeTimers();
    const fake = createFakeSume({
      secrets: ['s'],
      send: () => new Promise((resolve) => setTimeout(() => resolve(new Response('ok')), 5)),
    });
    await fake.control.complete(await submitJob(fake));
    await expect(fake.control.settle()).rejects.toThrow(/no answer from/);
    await vi.advanceTimersByTimeAsync(5);
    await fake.control.settle();
    expect(fake.deliveries[0]?.state).toBe('delivered');
  });
});
