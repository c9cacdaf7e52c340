import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  InputError,
  SumeAnswerError,
  SumeApiError,
  SumeUnreachableError,
} from '../../../src/errors.ts';
import {
  createSumeClient,
  type SumeClient,
  type SumeClientOptions,
} from '../../../src/sume-client.ts';
import { manualClock, type ManualClock } from '../../setup/manual-clock.ts';

interface Sent {
  method: string;
  url: string;
  headers: Headers;
  body: string;
}

/** A client whose fetch answers what it is told, and what was sent. */
const clientAnswered = (
  answer: (signal: AbortSignal | null) => Response | Promise<Response>,
  options: Partial<SumeClientOptions> = {},
): { client: SumeClient; sent: Sent[]; clock: ManualClock } => {
  const sent: Sent[] = [];
  const clock = manualClock();
  const client = createSumeClient({
    apiKey: 'sume_live_key',
    clock,
    fetch: async (input, init) => {
      const request = new Request(input, init);
      sent.push({
        method: request.method,
        url: request.url,
        headers: request.headers,
        body: await request.text(),
      });
      return answer(init?.signal ?? null);
    },
    ...options,
  });
  return { client, sent, clock };
};

const data = (value: unknown): Response => Response.json({ data: value });

describe('what the client sends', () => {
  test('a submit: the input, the mode, where to push, the key, and who asks', async () => {
    const { client, sent } = clientAnswered(() =>
      Response.json(
        { data: { request_id: 'job_1', idempotency_hit: true, job: { status: 'queued' } } },
        { status: 202 },
      ),
    );
    expect(
      await client.submit({
        model: 'sume/avatar-video/v1.0',
        input: { text: 'hi', mode: 'sync' },
        idempotencyKey: 'order_7',
        webhookUrl: 'https://app.example/hooks/sume',
      }),
    ).toEqual({ jobId: 'job_1', status: 'queued', idempotencyHit: true });
    expect(sent).toHaveLength(1);
    expect(sent[0]).toMatchObject({
      method: 'POST',
      url: 'https://api.sume.com/v1/models/sume/avatar-video/v1.0/runs',
    });
    expect(sent[0]?.headers.get('authorization')).toBe('Bearer sume_live_key');
    expect(sent[0]?.headers.get('idempotency-key')).toBe('order_7');
    expect(sent[0]?.headers.get('content-type')).toBe('application/json');
    expect(JSON.parse(sent[0]?.body ?? '')).toEqual({
      text: 'hi',
      mode: 'webhook',
      webhook_url: 'https://app.example/hooks/sume',
    });
  });

  test('without a webhook the job is async', async () => {
    const { client, sent } = clientAnswered(() => data({ request_id: 'job_1' }));
    await client.submit({ model: 'm', input: {}, idempotencyKey: 'k' });
    expect(JSON.parse(sent[0]?.body ?? '')).toEqual({ mode: 'async' });
  });

  test('the routes of a job, under the base URL that was given', async () => {
    const { client, sent } = clientAnswered(() => data({}), {
      baseUrl: 'http://127.0.0.1:8080/v1//',
    });
    await client.job('job_1');
    await client.status('job_1');
    await client.result('job_1');
    await client.cancel('job_1');
    expect(sent.map(({ method, url }) => `${method} ${url}`)).toEqual([
      'GET http://127.0.0.1:8080/v1/jobs/job_1',
      'GET http://127.0.0.1:8080/v1/jobs/job_1/status',
      'GET http://127.0.0.1:8080/v1/jobs/job_1/result',
      'POST http://127.0.0.1:8080/v1/jobs/job_1/cancel',
    ]);
  });

  test('an id never leaves its place in the path, whatever it holds', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.oneof(
          fc.string({ unit: 'grapheme', minLength: 1, maxLength: 20 }),
          fc.constantFrom('../me', 'a/b', '?x=1', '#x', '%2e%2e', '..;', 'a b', '...'),
        ),
        async (id) => {
          fc.pre(id !== '.' && id !== '..' && !id.includes('\0'));
          const { client, sent } = clientAnswered(() => data({}));
          await client.status(id);
          const parts = new URL(sent[0]?.url ?? '').pathname.split('/');
          expect(parts.map(decodeURIComponent)).toEqual(['', 'v1', 'jobs', id, 'status']);
        },
      ),
    );
  });

  test.each(['', '.', '..', '\0', 'x'.repeat(201)])('the id %j is refused unsent', async (id) => {
    const { client, sent } = clientAnswered(() => data({}));
    await expect(client.status(id)).rejects.toBeInstanceOf(InputError);
    await expect(client.cancel(id)).rejects.toBeInstanceOf(InputError);
    expect(sent).toEqual([]);
  });

  test('an empty API key, idempotency key or model part is refused', async () => {
    expect(() => createSumeClient({ apiKey: '' })).toThrow(InputError);
    const { client, sent } = clientAnswered(() => data({ request_id: 'job_1' }));
    await expect(
      client.submit({ model: 'm', input: {}, idempotencyKey: '' }),
    ).rejects.toBeInstanceOf(InputError);
    await expect(
      client.submit({ model: 'm//v1', input: {}, idempotencyKey: 'k' }),
    ).rejects.toBeInstanceOf(InputError);
    expect(sent).toEqual([]);
  });
});

describe('what the client reads', () => {
  test('the status, and whether the result is ready', async () => {
    const { client } = clientAnswered(() =>
      data({
        request_id: 'job_1',
        job_id: 'job_1',
        status: 'IN_PROGRESS',
        sume_status: 'processing',
        terminal: false,
        result_ready: false,
      }),
    );
    expect(await client.status('job_1')).toEqual({
      jobId: 'job_1',
      status: 'processing',
      word: 'processing',
      resultReady: false,
    });
  });

  test('a word that is not known, as no status', async () => {
    const { client } = clientAnswered(() => data({ sume_status: 'archiving', result_ready: true }));
    expect(await client.status('job_1')).toEqual({
      jobId: 'job_1',
      status: null,
      word: 'archiving',
      resultReady: true,
    });
  });

  test('the result, with the raw text it was read from', async () => {
    const text = '{ "data": {"request_id":"job_1","status":"COMPLETED","result":{"artifacts":[]}}}';
    const { client } = clientAnswered(() => new Response(text));
    expect(await client.result('job_1')).toEqual({
      status: 'completed',
      result: { artifacts: [] },
      body: text,
    });
  });

  test('the whole job, bare or under "job"', async () => {
    const job = { id: 'job_1', status: 'running', input: { text: 'hi' } };
    for (const told of [job, { job }]) {
      const { client } = clientAnswered(() => data(told));
      expect(await client.job('job_1')).toEqual({ jobId: 'job_1', status: 'processing', job });
    }
  });

  test('whether a cancel did anything', async () => {
    const { client } = clientAnswered(() => data({ status: 'COMPLETED', canceled: false }));
    expect(await client.cancel('job_1')).toEqual({ status: 'completed', canceled: false });
  });
});

describe('what the client makes of trouble', () => {
  test("Sume's own errors, with all that they tell", async () => {
    const { client } = clientAnswered(() =>
      Response.json(
        { error: { code: 'rate_limit_exceeded', message: 'Slow down.' }, request_id: 'req_9' },
        { status: 429, headers: { 'retry-after': '7' } },
      ),
    );
    const error = await client.status('job_1').catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(SumeApiError);
    expect(error).toMatchObject({
      code: 'sume_api',
      status: 429,
      apiCode: 'rate_limit_exceeded',
      requestId: 'req_9',
      retryAfterMs: 7_000,
    });
    expect(String(error)).toContain('GET /jobs/job_1/status was answered 429');
  });

  test('an HTTP date to wait for, on the clock of the client; nonsense is none', async () => {
    const waits: (number | null)[] = [];
    for (const header of [
      'Mon, 01 Jun 2026 12:00:30 GMT',
      'Mon, 01 Jun 2026 11:00:00 GMT',
      'soon',
      '-5',
      '1.5',
      '',
    ]) {
      const { client } = clientAnswered(
        () => new Response('', { status: 503, headers: { 'retry-after': header } }),
      );
      const error = await client.status('job_1').catch((thrown: unknown) => thrown);
      waits.push((error as SumeApiError).retryAfterMs);
    }
    expect(waits).toEqual([30_000, 0, null, null, null, null]);
  });

  test.each([
    ['an HTML page', () => new Response('<html>502</html>', { status: 502 })],
    ['nothing', () => new Response(null, { status: 500 })],
    ['odd JSON', () => new Response('{"error":"x"}', { status: 404 })],
  ])('an error status with %s is still that status', async (_what, answer) => {
    const { client } = clientAnswered(answer);
    const error = await client.status('job_1').catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(SumeApiError);
    expect(error).toMatchObject({ status: answer().status, apiCode: null, retryAfterMs: null });
  });

  test.each([
    ['an HTML page', '<!doctype html><html></html>', 'not JSON'],
    ['nothing', '', 'empty'],
    ['half an answer', '{"data":{"sume_status":"comp', 'not JSON'],
    ['no envelope', '{"sume_status":"completed"}', '"data"'],
    ['an envelope around no object', '{"data":[]}', '"data"'],
    ['another job', '{"data":{"job_id":"job_2","sume_status":"completed"}}', 'job_2'],
  ])('a 200 with %s tells nothing about the job', async (_what, text, reason) => {
    const { client } = clientAnswered(() => new Response(text));
    const error = await client.status('job_1').catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(SumeAnswerError);
    expect(error).toMatchObject({ code: 'sume_answer', status: 200 });
    expect(String(error)).toContain(reason);
  });

  test('a submit that is answered without a usable id is no success', async () => {
    for (const told of [{}, { request_id: '' }, { request_id: 7 }, { job: { id: 'job_1' } }]) {
      const { client } = clientAnswered(() => data(told));
      await expect(
        client.submit({ model: 'm', input: {}, idempotencyKey: 'k' }),
      ).rejects.toBeInstanceOf(SumeAnswerError);
    }
  });

  test('an answer over the cap is not read to its end', async () => {
    let sent = 0;
    const { client } = clientAnswered(
      () =>
        new Response(
          new ReadableStream<Uint8Array>({
            pull: (controller) => {
              sent += 1_000;
              controller.enqueue(new Uint8Array(1_000));
            },
          }),
        ),
      { maxAnswerBytes: 10_000 },
    );
    await expect(client.status('job_1')).rejects.toBeInstanceOf(SumeAnswerError);
    expect(sent).toBeLessThanOrEqual(13_000);
  });

  test('a connection that fails, before the answer or in the middle of it', async () => {
    const cause = new TypeError('fetch failed');
    const breaking = new ReadableStream<Uint8Array>({
      start: (controller) => controller.error(cause),
    });
    for (const answer of [() => Promise.reject(cause), () => new Response(breaking)]) {
      const { client, clock } = clientAnswered(answer);
      const error = await client.status('job_1').catch((thrown: unknown) => thrown);
      expect(error).toBeInstanceOf(SumeUnreachableError);
      expect(error).toMatchObject({ code: 'sume_unreachable', timedOut: false, cause });
      expect(clock.sleeping).toBe(0);
    }
  });

  test('no answer in time, by the clock that was given; the request is aborted', async () => {
    let asking: (signal: AbortSignal | null) => void = () => undefined;
    const asked = new Promise<AbortSignal | null>((resolve) => {
      asking = resolve;
    });
    const { client, clock } = clientAnswered(
      (signal) => {
        asking(signal);
        return new Promise(() => undefined);
      },
      { timeoutMs: 5_000 },
    );
    const failed = client.status('job_1').catch((thrown: unknown) => thrown);
    const signal = await asked;
    clock.advance(5_000);
    const error = await failed;
    expect(error).toBeInstanceOf(SumeUnreachableError);
    expect(error).toMatchObject({ timedOut: true });
    expect(signal?.aborted).toBe(true);
  });

  test("the caller's signal ends a call with its own reason", async () => {
    const stop = new AbortController();
    const { client, clock } = clientAnswered(() => new Promise(() => undefined));
    const asked = client.status('job_1', { signal: stop.signal });
    const reason = new Error('shutting down');
    stop.abort(reason);
    await expect(asked).rejects.toBe(reason);
    expect(clock.sleeping).toBe(0);
  });

  test('nothing is asked twice', async () => {
    const { client, sent } = clientAnswered(() => new Response('', { status: 503 }));
    await client.status('job_1').catch(() => undefined);
    expect(sent).toHaveLength(1);
  });
});
