import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { getResponse } from 'msw';
import { setupServer } from 'msw/node';
import { describe, expect, it } from 'vitest';
import {
  createFakeClock,
  createFakeSume,
  systemClock,
  type Clock,
} from '../../../../sim/fake-sume/index.ts';
import { ask, submitJob } from './ask.ts';
import { createReceiver } from './receiver.ts';

/** In the words of MSW 2, and in those of MSW 3. */
const UNHANDLED_IS_AN_ERROR = { onUnhandledRequest: 'error', onUnhandledFrame: 'error' } as const;

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

describe('two fakes in one process', () => {
  it('never meet, even with the same keys, ids and routes', async () => {
    const make = (
      baseUrl: string,
      secret: string,
    ): { fake: ReturnType<typeof createFakeSume>; receiver: ReturnType<typeof createReceiver> } => {
      const receiver = createReceiver(() => new Response(null, { status: 500 }));
      const fake = createFakeSume({
        baseUrl,
        secrets: [secret],
        clock: createFakeClock(0),
        send: receiver.send,
        jobId: (key) => key,
      });
      return { fake, receiver };
    };
    const one = make('https://one.example/v1', 'first');
    const other = make('https://other.example/v1', 'second');
    const server = setupServer(...one.fake.handlers, ...other.fake.handlers);
    server.listen(UNHANDLED_IS_AN_ERROR);
    try {
      for (const { fake } of [one, other]) {
        const response = await fetch(`${fake.baseUrl}/models/m/runs`, {
          method: 'POST',
          headers: {
            authorization: 'Bearer k',
            'content-type': 'application/json',
            'idempotency-key': 'job_1',
          },
          body: JSON.stringify({ webhook_url: 'https://app.example/hook' }),
        });
        expect(response.status).toBe(202);
      }
      await one.fake.control.nextAnswer('status', { kind: 'server-error' });
      one.fake.control.holdAnswers('status');
      one.fake.control.holdDeliveries();
      await one.fake.control.dropDeliveries({ times: 9 });
      await one.fake.control.setCredits(0);
      await one.fake.control.complete('job_1');
      await one.fake.control.advance(500_000);

      const headers = { authorization: 'Bearer k' };
      const status = await fetch('https://other.example/v1/jobs/job_1/status', { headers });
      expect(await status.json()).toMatchObject({ data: { sume_status: 'queued' } });
      await other.fake.control.fail('job_1');
      await other.fake.control.advance(30_000);
      expect(other.receiver.received.map(({ attempt }) => attempt.event)).toEqual([
        'job.failed',
        'job.failed',
      ]);
      expect(one.receiver.received).toEqual([]);
      expect(other.fake.requests).toHaveLength(2);
      expect(other.fake.deliveries).toHaveLength(1);
      await one.fake.dispose();
      await other.fake.control.advance(30_000);
      expect(other.receiver.received).toHaveLength(3);
    } finally {
      server.close();
      await other.fake.dispose();
    }
  });

  it('leave requests to other hosts alone', async () => {
    const fake = createFakeSume({ secrets: ['s'], baseUrl: 'https://api.sume.com/v1' });
    for (const url of [
      'https://api.sume.com.evil.example/v1/jobs',
      'https://api-sume.com/v1/jobs',
      'http://api.sume.com/v1/jobs',
      'https://api.sume.com:8443/v1/jobs',
    ]) {
      expect(await getResponse(fake.handlers, new Request(url))).toBeUndefined();
    }
  });
});

describe('setupServer and getResponse', () => {
  it('answer the same', async () => {
    const script = async (
      send: (request: Request) => Promise<Response | undefined>,
    ): Promise<unknown[]> => {
      const fake = createFakeSume({
        secrets: ['s'],
        clock: createFakeClock(0),
        send: createReceiver().send,
      });
      const server = setupServer(...fake.handlers);
      server.listen(UNHANDLED_IS_AN_ERROR);
      const seen: unknown[] = [];
      const go = async (method: string, path: string, body?: unknown): Promise<void> => {
        const response = await send.call(
          fake,
          new Request(`${fake.baseUrl}${path}`, {
            method,
            headers: { 'x-api-key': 'k', 'content-type': 'application/json' },
            ...(body === undefined ? {} : { body: JSON.stringify(body) }),
          }),
        );
        seen.push([response?.status, [...(response?.headers ?? [])], await response?.text()]);
      };
      try {
        await go('POST', '/models/a/b/runs', { webhook_url: 'https://app.example/hook' });
        const [jobId = ''] = fake.control.truth().keys();
        await go('GET', `/jobs/${jobId}/result`);
        await fake.control.complete(jobId);
        await fake.control.settle();
        for (const route of ['', '/status', '/result', '/events', '/nothing']) {
          await go('GET', `/jobs/${jobId}${route}`);
        }
        await go('POST', `/jobs/${jobId}/cancel`);
        await go('GET', '/jobs?limit=0');
        seen.push(fake.deliveries.map(({ attempts, body }) => [attempts, body]));
      } finally {
        server.close();
        await fake.dispose();
      }
      return seen;
    };
    const direct = await script(function direct(this: unknown, request) {
      return getResponse((this as ReturnType<typeof createFakeSume>).handlers, request);
    });
    expect(await script((request) => fetch(request))).toEqual(direct);
  });

  it('makes fetch fail as a network does when an answer is lost', async () => {
    const fake = createFakeSume({ secrets: ['s'] });
    const server = setupServer(...fake.handlers);
    server.listen();
    try {
      await fake.control.nextAnswer('health', { kind: 'answer-lost' });
      await expect(fetch(`${fake.baseUrl}/health`)).rejects.toThrow(TypeError);
      expect((await fetch(`${fake.baseUrl}/health`)).status).toBe(200);
    } finally {
      server.close();
    }
  });
});

describe('after dispose', () => {
  it('no timer and no request is pending, and nothing is answered any more', async () => {
    let sleepers = 0;
    const clock: Clock = {
      now: () => systemClock.now(),
      async sleep(ms, signal) {
        sleepers += 1;
        await systemClock.sleep(ms, signal).finally(() => (sleepers -= 1));
      },
    };
    const aborted: string[] = [];
    const fake = createFakeSume({
      secrets: ['s'],
      clock,
      jobId: (key) => key,
      send: (request, { jobId }) =>
        jobId === 'hangs'
          ? new Promise(() => request.signal.addEventListener('abort', () => aborted.push(jobId)))
          : Promise.resolve(new Response(null, { status: 500 })),
    });
    // One in each state that can wait: for its receiver, for the next attempt, for a release.
    for (const key of ['hangs', 'retries', 'held']) await submitJob(fake, { key });
    fake.control.holdDeliveries({ jobId: 'held' });
    for (const jobId of ['hangs', 'retries', 'held']) await fake.control.complete(jobId);
    const answer = fake.control.holdAnswers('me');
    const asking = ask(fake, 'GET', '/me');
    await answer.arrived();
    await expect.poll(() => fake.deliveries[1]?.attempts[0]?.endedAtMs ?? null).not.toBeNull();
    // The attempt that ended is followed by the wait for the next one, some turns later.
    await expect.poll(() => sleepers).toBe(2);

    await fake.dispose();
    expect(sleepers).toBe(0);
    expect(aborted).toEqual(['hangs']);
    expect(fake.deliveries.map(({ state }) => state)).toEqual(['canceled', 'canceled', 'canceled']);
    expect((await asking).status).toBe(0);
    expect((await ask(fake, 'GET', '/health')).status).toBe(0);
    await fake.control.settle();
    await fake.dispose();
  });
});

describe('a client that gives up', () => {
  it('is not waited for in setupServer either', async () => {
    const fake = createFakeSume({ secrets: ['s'] });
    const server = setupServer(...fake.handlers);
    server.listen();
    try {
      const hold = fake.control.holdAnswers('health');
      const leaving = new AbortController();
      const asking = fetch(`${fake.baseUrl}/health`, { signal: leaving.signal }).catch(
        () => 'left',
      );
      await hold.arrived();
      leaving.abort();
      expect(await asking).toBe('left');
      await fake.control.settle();
      expect(hold.held).toEqual([]);
    } finally {
      server.close();
    }
  });
});

describe('reset', () => {
  it('forgets everything, and a late retry from before never arrives afterwards', async () => {
    const receiver = createReceiver(() => new Response(null, { status: 500 }));
    const fake = createFakeSume({
      secrets: ['s'],
      clock: createFakeClock(0),
      send: receiver.send,
      jobId: (key) => `job_${key}`,
    });
    await submitJob(fake, { key: 'a' });
    await fake.control.nextAnswer('me', { kind: 'server-error' });
    await fake.control.dropDeliveries({ times: 5 });
    await fake.control.complete('job_a');
    const hold = fake.control.holdAnswers('list');
    const asking = ask(fake, 'GET', '/jobs');
    await hold.arrived();
    await fake.control.advance(1_000);
    expect(receiver.received).toHaveLength(0);

    await fake.control.reset();
    expect((await asking).status).toBe(0);
    expect([fake.control.truth().size, fake.requests.length, fake.deliveries.length]).toEqual([
      0, 0, 0,
    ]);
    await fake.control.advance(3_600_000);
    expect(receiver.received).toHaveLength(0);
    expect((await ask(fake, 'GET', '/me')).status).toBe(200);
    expect((await ask(fake, 'GET', '/jobs/job_a')).status).toBe(404);
    // The same key makes the same id again, as a new job.
    expect(await submitJob(fake, { key: 'a' })).toBe('job_a');
    await fake.control.complete('job_a');
    await fake.control.advance(0);
    expect(receiver.received.map(({ attempt }) => attempt.attempt)).toEqual([1]);
    await fake.dispose();
  });

  it('lets go of what was before, so that a fake that lives long does not grow', async () => {
    const fake = createFakeSume({ secrets: ['s'], send: async () => new Response('ok') });
    const sendOne = async (key: string): Promise<WeakRef<object>> => {
      await fake.control.complete(await submitJob(fake, { key }));
      await fake.control.settle();
      const [attempt] = fake.deliveries[0]?.attempts ?? [];
      if (attempt === undefined) throw new Error('Nothing was sent.');
      return new WeakRef(attempt.headers);
    };
    const before = await sendOne('a');
    await fake.control.reset();
    // A second one, so that the latest, which may still be on the stack, is another.
    await sendOne('b');
    await fake.control.reset();
    await new Promise((resolve) => setImmediate(resolve));
    collectGarbage();
    expect(before.deref()).toBeUndefined();
  });

  it('makes no job of a submit whose body was still on its way', async () => {
    const fake = createFakeSume({ secrets: ['s'] });
    let finish = (): void => {};
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        controller.enqueue(new TextEncoder().encode('{'));
        finish = () => {
          controller.enqueue(new TextEncoder().encode('}'));
          controller.close();
        };
      },
    });
    // TypeScript's DOM types do not know `duplex`, which Node demands of a streamed body.
    const init: RequestInit & { duplex: 'half' } = {
      method: 'POST',
      headers: { 'x-api-key': 'k', 'content-type': 'application/json' },
      body,
      duplex: 'half',
    };
    const request = new Request(`${fake.baseUrl}/models/m/runs`, init);
    const answering = getResponse(fake.handlers, request);
    await expect.poll(() => fake.requests.length).toBe(1);
    await fake.control.reset();
    finish();
    expect((await answering)?.type).toBe('error');
    expect(fake.control.truth().size).toBe(0);
  });
});
