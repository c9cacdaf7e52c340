import { createHmac } from 'node:crypto';
import { describe, expect, it, vi } from 'vitest';
import {
  createFakeClock,
  createFakeSume,
  type FakeSume,
  type FakeSumeOptions,
} from '../../../../sim/fake-sume/index.ts';
import { ask, submitJob } from './ask.ts';
import { createReceiver, type Received } from './receiver.ts';

const START_MS = 1_700_000_000_000;

function setUp(
  options: Partial<FakeSumeOptions> & { answer?: (received: Received) => Response } = {},
): { fake: FakeSume; received: Received[] } {
  const receiver = createReceiver(options.answer);
  const fake = createFakeSume({
    secrets: ['whsec'],
    clock: createFakeClock(START_MS),
    jobId: (key) => `job_${key}`,
    send: receiver.send,
    ...options,
  });
  return { fake, received: receiver.received };
}

function verifies(received: Received, toleranceMs = 300_000): boolean {
  const timestamp = received.headers.get('x-sume-timestamp');
  const digest = createHmac('sha256', 'whsec')
    .update(`${timestamp}.${received.body}`)
    .digest('hex');
  return (
    received.headers.get('x-sume-signature') === `v1=${digest}` &&
    Math.abs(Number(timestamp) * 1000 - START_MS) <= toleranceMs
  );
}

const eventOf = (received: Received): unknown =>
  (JSON.parse(received.body) as { event: unknown }).event;

describe('making jobs without a request', () => {
  it('is a submit that nobody made', async () => {
    const { fake, received } = setUp();
    const jobId = await fake.control.create({
      model: 'sume/upscale/v2',
      input: { scale: 4 },
      webhookUrl: 'https://app.example/hook',
      idempotencyKey: 'k',
    });
    expect((await ask(fake, 'GET', `/jobs/${jobId}`)).json.data).toMatchObject({
      id: 'job_k',
      model: 'sume/upscale/v2',
      input: { scale: 4 },
    });
    await fake.control.complete(jobId);
    await fake.control.settle();
    expect(received).toHaveLength(1);
    expect(fake.requests).toHaveLength(1);
  });

  it('refuses an address or a key that a submit could not use', async () => {
    const { fake } = setUp();
    const refused = { code: 'bad_control' };
    await expect(fake.control.create({ webhookUrl: 'http://a.example' })).rejects.toMatchObject(
      refused,
    );
    await fake.control.create({ idempotencyKey: 'k' });
    await expect(
      fake.control.create({ idempotencyKey: 'k', input: { a: 1 } }),
    ).rejects.toMatchObject(refused);
  });
});

describe('misbehaving events', () => {
  it('contradict the end of a job; the truth and every read keep the first end', async () => {
    const { fake, received } = setUp();
    const jobId = await submitJob(fake, { key: 'a' });
    await fake.control.complete(jobId);
    await fake.control.contradict(jobId, 'failed');
    await fake.control.settle();
    expect(received.map(eventOf)).toEqual(['job.completed', 'job.failed']);
    expect(received.every((one) => verifies(one))).toBe(true);
    expect(new Set(received.map(({ attempt }) => attempt.eventId)).size).toBe(2);
    const truth = fake.control.truth().get(jobId);
    expect(truth).toMatchObject({
      status: 'completed',
      reported: ['queued', 'completed', 'failed'],
    });
    expect(truth?.events.map(({ event }) => event)).toEqual(['job.completed', 'job.failed']);
    const asked = await ask(fake, 'GET', `/jobs/${jobId}/status`);
    expect(asked.json.data).toMatchObject({ sume_status: 'completed' });
  });

  it('contradict only a job that has ended, and only with another end', async () => {
    const { fake } = setUp();
    const jobId = await submitJob(fake);
    await expect(fake.control.contradict(jobId, 'failed')).rejects.toThrow(/end it first/);
    await fake.control.fail(jobId);
    await expect(fake.control.contradict(jobId, 'failed')).rejects.toThrow(/another status/);
  });

  it('can be of a type that nobody knows, retried like any other', async () => {
    const { fake, received } = setUp({ answer: () => new Response(null, { status: 500 }) });
    const jobId = await submitJob(fake);
    await fake.control.announce(jobId, 'job.rated', { stars: 5 });
    await fake.control.advance(3_600_000);
    expect(received).toHaveLength(10);
    expect(received.map(eventOf)).toEqual(Array.from({ length: 10 }, () => 'job.rated'));
    expect(JSON.parse(received[0]?.body ?? '')).toMatchObject({ payload: { stars: 5 } });
    expect(fake.control.truth().get(jobId)?.reported).toEqual(['queued']);
    await expect(fake.control.announce(jobId, 'job.failed')).rejects.toThrow(/documented/);
  });

  it('can be forged: another secret signed them, and they are tried once', async () => {
    const { fake, received } = setUp({ answer: () => new Response(null, { status: 401 }) });
    const jobId = await submitJob(fake);
    const delivery = await fake.control.forge(jobId, 'job.completed');
    await fake.control.settle();
    expect(received.map((one) => [eventOf(one), verifies(one)])).toEqual([
      ['job.completed', false],
    ]);
    expect(delivery).toMatchObject({ kind: 'forged', genuine: false, state: 'given-up' });
    expect(fake.control.truth().get(jobId)).toMatchObject({ status: 'queued', events: [] });
    expect(fake.control.truth().get(jobId)?.reported).toEqual(['queued']);
  });

  it('can be forged for a job that Sume never issued, to a given address', async () => {
    const { fake, received } = setUp();
    await expect(fake.control.forge('job_x', 'job.completed')).rejects.toThrow(/give \{ url \}/);
    await expect(
      fake.control.forge('job_x', 'job.completed', { url: 'http://app.example' }),
    ).rejects.toThrow(/cannot be sent to/);
    await fake.control.forge('job_x', 'job.completed', { url: 'http://localhost:1/hook' });
    await fake.control.settle();
    expect(received.map(({ url }) => url)).toEqual(['http://localhost:1/hook']);
    expect(fake.control.truth().size).toBe(0);
  });

  it('can be tampered with: the body says something else than what was signed', async () => {
    const { fake, received } = setUp();
    const jobId = await submitJob(fake);
    await fake.control.complete(jobId);
    await fake.control.tamper(jobId);
    await fake.control.settle();
    const [honest, tampered] = received;
    if (honest === undefined || tampered === undefined) throw new Error('unreachable');
    expect(verifies(tampered)).toBe(false);
    expect(eventOf(tampered)).toBe('job.failed');
    // The signature is the honest body's.
    expect(verifies({ ...tampered, body: honest.body })).toBe(true);
    expect(tampered.attempt).toMatchObject({ kind: 'tampered', genuine: false });
  });

  it.each([-600_000, -301_000, 301_000])(
    'can be stale: properly signed, %d ms away from now',
    async (offsetMs) => {
      const { fake, received } = setUp();
      const jobId = await submitJob(fake);
      await fake.control.stale(jobId, { offsetMs });
      await fake.control.settle();
      const [stale] = received;
      if (stale === undefined) throw new Error('unreachable');
      expect(verifies(stale)).toBe(false);
      expect(verifies(stale, 600_000)).toBe(true);
      expect(Number(stale.headers.get('x-sume-timestamp')) * 1000).toBe(START_MS + offsetMs);
      expect(stale.attempt.genuine).toBe(false);
    },
  );

  it('can be replayed: the same bytes, timestamp and signature', async () => {
    const { fake, received } = setUp({ answer: () => new Response(null, { status: 500 }) });
    const jobId = await submitJob(fake);
    await fake.control.complete(jobId);
    await fake.control.advance(30_000);
    const [original] = fake.deliveries;
    if (original === undefined) throw new Error('unreachable');
    await fake.control.replay(original, 1);
    await fake.control.replay(original);
    await fake.control.settle({ jobId }).catch(() => {});
    const bytes = received.map(({ body, headers }) => [body, ...headers]);
    expect(bytes[2]).toEqual(bytes[0]);
    expect(bytes[3]).toEqual(bytes[1]);
    expect(bytes[2]).not.toEqual(bytes[1]);
    await expect(fake.control.replay(original, 7)).rejects.toMatchObject({ code: 'bad_control' });
  });

  it('can be duplicates: the same event now, freshly signed, whatever the delivery does', async () => {
    const { fake, received } = setUp();
    const jobId = await submitJob(fake);
    const hold = fake.control.holdDeliveries({ kind: 'event' });
    await fake.control.complete(jobId);
    await hold.arrived();
    const duplicates = await fake.control.deliver(jobId, { times: 3 });
    hold.release();
    await fake.control.settle();
    expect(duplicates.map(({ state }) => state)).toEqual(['delivered', 'delivered', 'delivered']);
    expect(received).toHaveLength(4);
    expect(new Set(received.map(({ body }) => body)).size).toBe(1);
    expect(new Set(received.map(({ attempt }) => attempt.eventId)).size).toBe(1);
    expect(received.every((one) => verifies(one))).toBe(true);
  });

  it('cannot repeat what never happened', async () => {
    const { fake } = setUp();
    const jobId = await submitJob(fake);
    await expect(fake.control.deliver(jobId)).rejects.toThrow(/end it first/);
    await fake.control.complete(jobId);
    await expect(fake.control.deliver(jobId, { event: 'job.failed' })).rejects.toThrow(
      /job.failed/,
    );
    await expect(fake.control.deliver(jobId, { times: 0 })).rejects.toThrow(/times is 0/);
    await expect(fake.control.complete('job_nobody')).rejects.toMatchObject({
      code: 'unknown_job',
    });
  });
});

describe('the way of a delivery', () => {
  it('begins in the order of the events, whichever is signed first', async () => {
    const { fake, received } = setUp();
    const [a, b] = [await submitJob(fake, { key: 'a' }), await submitJob(fake, { key: 'b' })];
    // The first signature waits until the second is there, as one of a slower thread would.
    const sign = crypto.subtle.sign.bind(crypto.subtle);
    let tellSigned = (): void => {};
    const secondSigned = new Promise<void>((resolve) => (tellSigned = resolve));
    const signing = vi
      .spyOn(crypto.subtle, 'sign')
      .mockImplementationOnce(async (...args) => {
        await secondSigned;
        return await sign(...args);
      })
      .mockImplementationOnce(async (...args) => {
        const signature = await sign(...args);
        tellSigned();
        return signature;
      });
    await Promise.all([fake.control.complete(a), fake.control.complete(b)]);
    await fake.control.settle();
    signing.mockRestore();
    expect(received.map(({ attempt }) => attempt.jobId)).toEqual([a, b]);
    expect(received.every((one) => verifies(one))).toBe(true);
  });

  it('can be turned around: the later event arrives first', async () => {
    const { fake, received } = setUp();
    const [a, b] = [await submitJob(fake, { key: 'a' }), await submitJob(fake, { key: 'b' })];
    const hold = fake.control.holdDeliveries({ jobId: a });
    await fake.control.complete(a);
    expect((await hold.arrived()).jobId).toBe(a);
    await fake.control.complete(b);
    await fake.control.settle({ jobId: b });
    hold.release();
    await fake.control.settle();
    expect(received.map(({ attempt }) => attempt.jobId)).toEqual([b, a]);
  });

  it('can lead past the 202: the webhook arrives before the submit is answered', async () => {
    const { fake, received } = setUp();
    const hold = fake.control.holdAnswers('submit');
    let answered = false;
    const submitting = submitJob(fake, { key: 'early' }).then((id) => {
      answered = true;
      return id;
    });
    const { jobId } = await hold.arrived();
    await fake.control.complete(jobId ?? '');
    await fake.control.settle({ jobId: jobId ?? '' }).catch(() => {});
    expect([received.map(eventOf), answered]).toEqual([['job.completed'], false]);
    hold.release();
    expect(await submitting).toBe('job_early');
    await fake.control.settle();
  });

  it('can be held one attempt at a time', async () => {
    const { fake, received } = setUp();
    const hold = fake.control.holdDeliveries();
    for (const key of ['a', 'b', 'c']) await fake.control.complete(await submitJob(fake, { key }));
    await expect
      .poll(() => hold.held.map(({ jobId }) => jobId))
      .toEqual(['job_a', 'job_b', 'job_c']);
    hold.release(2);
    await fake.control.settle({ jobId: 'job_b' });
    expect(received.map(({ attempt }) => attempt.jobId).sort()).toEqual(['job_a', 'job_b']);
    await fake.control.complete(await submitJob(fake, { key: 'd' }));
    await expect.poll(() => hold.held.length).toBe(2);
    hold.drop();
    await fake.control.settle().catch(() => {});
    expect(received).toHaveLength(2);
    expect(fake.deliveries[2]?.attempts[0]?.failure?.reason).toBe('delivery-lost');
    await fake.control.advance(30_000);
    expect(received).toHaveLength(4);
  });

  it('can lose the request: nothing arrives, and 30 s later the next attempt does', async () => {
    const { fake, received } = setUp();
    await fake.control.dropDeliveries({ times: 2 });
    await fake.control.complete(await submitJob(fake));
    await fake.control.advance(59_999);
    expect(received).toHaveLength(0);
    await fake.control.advance(1);
    await fake.control.settle();
    expect(received.map(({ attempt }) => attempt.attempt)).toEqual([3]);
    await expect(fake.control.dropDeliveries({ times: 1.5 })).rejects.toThrow(/times is 1.5/);
  });

  it('can lose the answer: the receiver did its work, and gets the event again', async () => {
    const { fake, received } = setUp();
    const [a, b] = [await submitJob(fake, { key: 'a' }), await submitJob(fake, { key: 'b' })];
    await fake.control.dropDeliveries({ jobId: a, what: 'acknowledgement' });
    await fake.control.complete(b);
    await fake.control.complete(a);
    await fake.control.advance(30_000);
    await fake.control.settle();
    expect(received.map(({ attempt }) => `${attempt.jobId} ${attempt.attempt}`)).toEqual([
      'job_b 1',
      'job_a 1',
      'job_a 2',
    ]);
    expect(fake.deliveries[1]?.attempts[0]).toMatchObject({
      answer: null,
      failure: { reason: 'acknowledgement-lost' },
    });
  });
});

describe('the next answer of a route', () => {
  it.each([
    [{ kind: 'rate-limited', retryAfterSeconds: 7 }, 429, 'rate_limit_exceeded'],
    [{ kind: 'server-error' }, 500, 'internal_error'],
    [{ kind: 'server-error', status: 503 }, 503, 'internal_error'],
  ] as const)('can be %j', async (answer, status, code) => {
    const { fake } = setUp();
    await fake.control.nextAnswer('me', answer);
    const asked = await ask(fake, 'GET', '/me');
    expect([asked.status, asked.json.error?.code]).toEqual([status, code]);
    expect(asked.headers.get('retry-after')).toBe(status === 429 ? '7' : null);
    expect(asked.headers.get('ratelimit-remaining')).toBe(status === 429 ? '0' : null);
    // Only the next one.
    expect((await ask(fake, 'GET', '/me')).status).toBe(200);
  });

  it('can be a web page, nothing, anything, or no answer at all', async () => {
    const { fake } = setUp();
    await fake.control.nextAnswer('me', { kind: 'html' });
    await fake.control.nextAnswer('me', { kind: 'empty' });
    await fake.control.nextAnswer('me', { kind: 'empty', status: 204 });
    await fake.control.nextAnswer('me', {
      kind: 'response',
      status: 200,
      headers: { 'content-type': 'application/json' },
      body: '{"data":{}}',
    });
    await fake.control.nextAnswer('me', { kind: 'request-lost' });
    const answers = [];
    for (let count = 0; count < 6; count += 1) {
      const { status, text } = await ask(fake, 'GET', '/me');
      answers.push(`${status} ${text.slice(0, 15)}`);
    }
    expect(answers).toEqual([
      '502 <!doctype html>',
      '200 ',
      '204 ',
      '200 {"data":{}}',
      '0 ',
      '200 {"data":{"id":"',
    ]);
  });

  it('can be about one job, for several requests', async () => {
    const { fake } = setUp();
    const [a, b] = [await submitJob(fake, { key: 'a' }), await submitJob(fake, { key: 'b' })];
    await fake.control.nextAnswer('status', { kind: 'server-error' }, { jobId: b, times: 2 });
    const statuses = [];
    for (const jobId of [a, b, a, b, b]) {
      statuses.push((await ask(fake, 'GET', `/jobs/${jobId}/status`)).status);
    }
    expect(statuses).toEqual([200, 500, 200, 500, 200]);
  });

  it('comes instead of the effect, or after it', async () => {
    const { fake } = setUp();
    const submitting = (key: string): Promise<unknown> =>
      submitJob(fake, { key }).catch(() => 'refused');
    await fake.control.nextAnswer('submit', { kind: 'server-error' });
    await fake.control.nextAnswer('submit', { kind: 'server-error' }, { afterEffect: true });
    await fake.control.nextAnswer('submit', { kind: 'request-lost' });
    await fake.control.nextAnswer('submit', { kind: 'answer-lost' });
    for (const key of ['none', 'after', 'lost', 'done']) {
      expect(await submitting(key)).toBe('refused');
    }
    expect([...fake.control.truth().keys()]).toEqual(['job_after', 'job_done']);
  });

  it('is refused for a route that does not exist', async () => {
    const { fake } = setUp();
    await expect(
      fake.control.nextAnswer('statuses' as 'status', { kind: 'empty' }),
    ).rejects.toThrow(/"statuses".*give one of submit, list/);
    await expect(
      fake.control.nextAnswer('status', { kind: 'empty' }, { times: 0 }),
    ).rejects.toThrow(/times is 0/);
    await expect(fake.control.nextAnswer('status', { kind: 'empty', status: 42 })).rejects.toThrow(
      /status is 42/,
    );
  });

  it.each([
    ['a line break in a value', { 'x-a': 'a\nb' }],
    ['a NUL in a value', { 'x-a': 'a\0b' }],
    ['a character outside Latin-1 in a value', { 'x-a': '✓' }],
    ['a name with a space', { 'x a': 'b' }],
    ['a name without a character', { '': 'b' }],
    ['a name outside ASCII', { ä: 'b' }],
  ])('is refused with headers that HTTP cannot carry: %s', async (_, headers) => {
    const { fake } = setUp();
    await expect(
      fake.control.nextAnswer('me', { kind: 'response', status: 200, headers }),
    ).rejects.toThrow(/The headers \{.*\} are none that HTTP can carry/);
    expect((await ask(fake, 'GET', '/me')).status).toBe(200);
  });
});

describe('the truth', () => {
  it('holds every status ever had and every status ever reported, with their times', async () => {
    const { fake } = setUp();
    const jobId = await submitJob(fake, { key: 'a' });
    await fake.control.advance(1_000);
    await fake.control.start(jobId);
    await fake.control.advance(1_000);
    await fake.control.expire(jobId);
    expect(fake.control.truth().get(jobId)).toEqual({
      jobId: 'job_a',
      model: 'sume/avatar-video/v1.0',
      idempotencyKey: 'a',
      webhookUrl: 'https://app.example/hook',
      status: 'expired',
      history: [
        { status: 'queued', atMs: START_MS },
        { status: 'processing', atMs: START_MS + 1_000 },
        { status: 'expired', atMs: START_MS + 2_000 },
      ],
      // Nobody asked in between, so nobody was told.
      reported: ['queued'],
      result: null,
      error: { code: 'job_expired', message: expect.any(String) as string },
      events: [],
    });
    await ask(fake, 'GET', '/jobs');
    expect(fake.control.truth().get(jobId)?.reported).toEqual(['queued', 'expired']);
  });

  it('counts an event as reported when it leaves, not when it is decided', async () => {
    const { fake } = setUp();
    const jobId = await submitJob(fake);
    const hold = fake.control.holdDeliveries();
    await fake.control.complete(jobId);
    await hold.arrived();
    expect(fake.control.truth().get(jobId)?.reported).toEqual(['queued']);
    hold.release();
    await fake.control.settle();
    expect(fake.control.truth().get(jobId)?.reported).toEqual(['queued', 'completed']);
  });

  it('does not change after it was told', async () => {
    const { fake } = setUp();
    const jobId = await submitJob(fake);
    const before = fake.control.truth();
    const copy = structuredClone(before);
    await fake.control.complete(jobId);
    await fake.control.settle();
    expect(before).toEqual(copy);
  });
});
