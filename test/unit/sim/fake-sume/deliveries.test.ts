import { createHmac } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import {
  createFakeClock,
  createFakeSume,
  type FakeSume,
  type FakeSumeOptions,
} from '../../../../sim/fake-sume/index.ts';
import { ask, submitJob } from './ask.ts';
import { createReceiver, type Received } from './receiver.ts';

const START_MS = 1_700_000_000_000;

function fakeSume(options: Partial<FakeSumeOptions> = {}): FakeSume {
  return createFakeSume({ secrets: ['whsec'], clock: createFakeClock(START_MS), ...options });
}

/** The signature as the docs describe it, by another implementation than the fake's. */
function signatureOf(secret: string, received: Received): string {
  const signed = `${received.headers.get('x-sume-timestamp')}.${received.body}`;
  return `v1=${createHmac('sha256', secret).update(signed).digest('hex')}`;
}

const status = (code: number) => (): Response => new Response(null, { status: code });

describe('the webhook of a job that ended', () => {
  it('has the documented body, headers and signature', async () => {
    const receiver = createReceiver();
    const fake = fakeSume({ send: receiver.send });
    const jobId = await submitJob(fake);
    const artifacts = [{ url: 'https://cdn.example/a.mp4' }];
    await fake.control.complete(jobId, { artifacts });
    await fake.control.settle();
    expect(receiver.received).toHaveLength(1);
    const [received] = receiver.received;
    if (received === undefined) throw new Error('unreachable');
    expect(received.url).toBe('https://app.example/hook');
    expect(JSON.parse(received.body)).toEqual({
      event: 'job.completed',
      request_id: jobId,
      job_id: jobId,
      status: 'OK',
      payload: { artifacts },
    });
    expect(Object.fromEntries(received.headers)).toEqual({
      'content-type': 'application/json',
      'x-sume-event-id': fake.deliveries[0]?.eventId,
      'x-sume-timestamp': String(START_MS / 1000),
      'x-sume-signature': signatureOf('whsec', received),
    });
  });

  it.each([
    ['fail', 'job.failed'],
    ['cancel', 'job.canceled'],
  ] as const)('after %s carries an error', async (verb, event) => {
    const receiver = createReceiver();
    const fake = fakeSume({ send: receiver.send });
    const jobId = await submitJob(fake);
    await fake.control[verb](jobId);
    await fake.control.settle();
    expect(JSON.parse(receiver.received[0]?.body ?? '')).toEqual({
      event,
      request_id: jobId,
      job_id: jobId,
      status: 'ERROR',
      payload: {},
      error: { code: expect.any(String) as unknown, message: expect.any(String) as unknown },
    });
  });

  it('is not sent for an expired job, nor for one without an address, nor before the end', async () => {
    const receiver = createReceiver();
    const fake = fakeSume({ send: receiver.send });
    await fake.control.expire(await submitJob(fake, { key: 'expires' }));
    await fake.control.start(await submitJob(fake, { key: 'starts' }));
    await fake.control.complete(await fake.control.create());
    await fake.control.settle();
    expect(fake.deliveries).toEqual([]);
  });

  it('is sent once, however often the job is ended', async () => {
    const receiver = createReceiver();
    const fake = fakeSume({ send: receiver.send });
    const jobId = await submitJob(fake);
    const outcomes = [
      await fake.control.complete(jobId),
      await fake.control.complete(jobId),
      await fake.control.fail(jobId),
      await fake.control.start(jobId),
    ];
    expect(outcomes).toEqual(['changed', 'unchanged', 'unchanged', 'unchanged']);
    await fake.control.settle();
    expect(receiver.received).toHaveLength(1);
    expect(fake.control.truth().get(jobId)?.status).toBe('completed');
  });

  it.each([200, 201, 202, 204, 299])('ends with the answer %d', async (code) => {
    const receiver = createReceiver(status(code));
    const fake = fakeSume({ send: receiver.send });
    await fake.control.complete(await submitJob(fake));
    await fake.control.settle();
    expect(fake.deliveries[0]).toMatchObject({ state: 'delivered', attempts: [{ number: 1 }] });
  });

  it.each([301, 304, 400, 404, 409, 429, 500, 503])(
    'is tried ten times in all, 30 s apart, when the answer is %d',
    async (code) => {
      const receiver = createReceiver(status(code));
      const fake = fakeSume({ send: receiver.send });
      const jobId = await submitJob(fake);
      await fake.control.complete(jobId);
      await fake.control.advance(3_600_000);
      await fake.control.settle();

      expect(receiver.received.map(({ attempt }) => attempt.attempt)).toEqual([
        1, 2, 3, 4, 5, 6, 7, 8, 9, 10,
      ]);
      const timestamps = receiver.received.map(({ headers }) =>
        Number(headers.get('x-sume-timestamp')),
      );
      expect(timestamps).toEqual(
        Array.from({ length: 10 }, (_, index) => START_MS / 1000 + index * 30),
      );
      for (const received of receiver.received) {
        expect(received.headers.get('x-sume-signature')).toBe(signatureOf('whsec', received));
      }
      const same = new Set(
        receiver.received.map(({ body, headers }) => `${headers.get('x-sume-event-id')} ${body}`),
      );
      expect(same.size).toBe(1);
      expect(fake.deliveries).toMatchObject([{ state: 'given-up', error: null }]);
      // Ten failures change nothing in the job: polling stays the truth.
      const asked = await ask(fake, 'GET', `/jobs/${jobId}/status`);
      expect(asked.json.data).toMatchObject({ sume_status: 'completed' });
    },
  );

  it('is tried again after a receiver threw or the connection failed', async () => {
    let calls = 0;
    const receiver = createReceiver(() => {
      calls += 1;
      if (calls === 1) throw new TypeError('fetch failed', { cause: new Error('ECONNREFUSED') });
      return calls === 2 ? Response.error() : new Response('ok');
    });
    const fake = fakeSume({ send: receiver.send });
    await fake.control.complete(await submitJob(fake));
    await fake.control.advance(60_000);
    expect(fake.deliveries).toMatchObject([
      {
        state: 'delivered',
        attempts: [
          {
            answer: null,
            failure: { reason: 'unreachable', message: 'fetch failed: ECONNREFUSED' },
          },
          { answer: null, failure: { reason: 'unreachable' } },
          { answer: { status: 200, body: 'ok' }, failure: null },
        ],
      },
    ]);
  });

  it('stays 30 s apart from start to start when attempts run out of time', async () => {
    const clock = createFakeClock(START_MS);
    const sentAtMs: number[] = [];
    const hungUp: boolean[] = [];
    const fake = fakeSume({
      clock,
      send: async (request) => {
        sentAtMs.push(clock.now());
        const answer = sentAtMs.length === 3 ? new Response('late but good') : null;
        if (answer !== null) return answer;
        await clock.sleep(60_000, request.signal).catch(() => hungUp.push(true));
        return new Response('too late');
      },
    });
    await fake.control.complete(await submitJob(fake));
    // Each due time of the clock comes only after a receiver that hangs had its real time to answer.
    await fake.control.advance(100_000);
    expect(sentAtMs).toEqual([START_MS, START_MS + 30_000, START_MS + 60_000]);
    expect(hungUp).toEqual([true, true]);
    expect(fake.deliveries[0]?.attempts).toMatchObject([
      { failure: { reason: 'no-answer' }, endedAtMs: START_MS + 10_000 },
      { failure: { reason: 'no-answer' }, endedAtMs: START_MS + 40_000 },
      { answer: { status: 200 } },
    ]);
  });

  it('takes the status of an answer whose body never ends, and keeps only its beginning', async () => {
    const endless = (): Response =>
      new Response(
        new ReadableStream({
          pull: (controller) => controller.enqueue(new TextEncoder().encode('x'.repeat(700))),
        }),
      );
    const fake = fakeSume({ send: createReceiver(endless).send });
    await fake.control.complete(await submitJob(fake));
    await fake.control.settle();
    expect(fake.deliveries[0]?.state).toBe('delivered');
    expect(fake.deliveries[0]?.attempts[0]?.answer?.body).toBe(`${'x'.repeat(1_024)}…`);
  });

  it('is signed by every secret during a rotation, newest first', async () => {
    const receiver = createReceiver(() => new Response(null, { status: 500 }));
    const fake = fakeSume({ secrets: ['new', 'old'], send: receiver.send });
    await fake.control.complete(await submitJob(fake));
    await fake.control.settle().catch(() => {});
    await fake.control.rotateSecrets(['newest']);
    await fake.control.advance(30_000);
    const [first, second] = receiver.received;
    if (first === undefined || second === undefined) throw new Error('unreachable');
    expect(first.headers.get('x-sume-signature')).toBe(
      `${signatureOf('new', first)},${signatureOf('old', first)}`,
    );
    expect(second.headers.get('x-sume-signature')).toBe(signatureOf('newest', second));
  });

  it('is a task with a stable name, told apart for the scheduler', async () => {
    const tasks = new Map<string, () => Promise<void>>();
    const receiver = createReceiver();
    const fake = fakeSume({
      send: receiver.send,
      jobId: (key) => `job_${key}`,
      spawn: (name, task) => tasks.set(name, task),
    });
    const jobId = await submitJob(fake, { key: 'a' });
    await fake.control.complete(jobId);
    await fake.control.deliver(jobId, { times: 2 });
    await fake.control.contradict(jobId, 'failed');
    await fake.control.announce(jobId, 'job.rated');
    await fake.control.forge(jobId, 'job.failed');
    expect([...tasks.keys()]).toEqual([
      'webhook/job_a',
      'webhook/job_a/duplicate-1',
      'webhook/job_a/duplicate-2',
      'webhook/job_a/contradiction-1',
      'webhook/job_a/announcement-1',
      'webhook/job_a/forged-1',
    ]);
    expect(receiver.received).toEqual([]);
    await tasks.get('webhook/job_a')?.();
    expect(receiver.received.map(({ attempt }) => attempt)).toEqual([
      {
        jobId,
        event: 'job.completed',
        eventId: fake.deliveries[0]?.eventId,
        attempt: 1,
        kind: 'event',
        genuine: true,
        name: 'webhook/job_a',
        timestamp: START_MS / 1000,
      },
    ]);
    await fake.dispose();
    expect(fake.deliveries.map(({ state }) => state)).toEqual([
      'delivered',
      ...Array.from({ length: 5 }, () => 'canceled'),
    ]);
  });

  it('keeps what broke in it where a test can see it', async () => {
    const broken = {
      now: () => START_MS,
      sleep: () => Promise.reject(new Error('this clock is broken')),
    };
    const fake = fakeSume({
      clock: broken,
      send: createReceiver(status(500)).send,
    });
    await fake.control.complete(await submitJob(fake));
    await fake.control.settle();
    expect(fake.deliveries).toMatchObject([
      { state: 'given-up', error: { message: 'this clock is broken' } },
    ]);
  });

  it('leaves by the fetch that is global at that moment, unless it is told otherwise', async () => {
    const original = globalThis.fetch;
    const urls: string[] = [];
    const fake = fakeSume();
    const jobId = await submitJob(fake);
    globalThis.fetch = (input) => {
      urls.push((input as Request).url);
      return Promise.resolve(new Response('ok'));
    };
    try {
      await fake.control.complete(jobId);
      await fake.control.settle();
    } finally {
      globalThis.fetch = original;
    }
    expect(urls).toEqual(['https://app.example/hook']);
  });
});
