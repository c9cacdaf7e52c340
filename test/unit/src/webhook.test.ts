import { createHmac } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { InputError } from '../../../src/errors.ts';
import type { TerminalEvent } from '../../../src/event.ts';
import type { ReceiveOutcome } from '../../../src/reconciler.ts';
import { createWebhookHandler, type WebhookOptions } from '../../../src/webhook.ts';
import { manualClock } from '../../setup/manual-clock.ts';

const SECRET = 'whsec_test';
const clock = manualClock();
const EVENT = '{"event":"job.completed","job_id":"job_1","payload":{"artifacts":[]}}';

/** A handler over a store that answers what it is told, and what reached the store. */
const handlerOver = (
  receive: (event: TerminalEvent) => Promise<ReceiveOutcome> = () => Promise.resolve('applied'),
  options: Partial<WebhookOptions> = {},
): {
  handle: (request: Request) => Promise<Response>;
  stored: TerminalEvent[];
  errors: unknown[];
} => {
  const stored: TerminalEvent[] = [];
  const errors: unknown[] = [];
  const handle = createWebhookHandler({
    reconciler: {
      receive: (event) => {
        stored.push(event);
        return receive(event);
      },
    },
    secrets: SECRET,
    clock,
    onError: (error) => errors.push(error),
    ...options,
  });
  return { handle, stored, errors };
};

const signedHeaders = (
  body: string | Uint8Array,
  timestamp = String(clock.now() / 1000),
): Headers => {
  const hmac = createHmac('sha256', SECRET).update(`${timestamp}.`).update(body).digest('hex');
  return new Headers({ 'x-sume-timestamp': timestamp, 'x-sume-signature': `v1=${hmac}` });
};

const post = (
  body: string | Uint8Array<ArrayBuffer>,
  headers: Headers = signedHeaders(body),
): Request => new Request('https://app.example/hooks/sume', { method: 'POST', body, headers });

const answer = async (response: Response): Promise<[number, unknown]> => {
  const text = await response.text();
  return [response.status, text === '' ? null : JSON.parse(text)];
};

const codeOf = async (response: Response): Promise<[number, string]> => {
  const body = (await response.json()) as { error: { code: string } };
  return [response.status, body.error.code];
};

describe('what the endpoint answers before it asks the database', () => {
  test.each(['GET', 'PUT', 'DELETE', 'PATCH'])(
    '%s: 405, and which method would do',
    async (method) => {
      const { handle, stored } = handlerOver();
      const response = await handle(new Request('https://app.example/', { method }));
      expect(response.headers.get('allow')).toBe('POST');
      expect(await codeOf(response)).toEqual([405, 'method_not_allowed']);
      expect(stored).toEqual([]);
    },
  );

  test('a body over the cap: 413, before its signature is looked at, and at the cap it is taken', async () => {
    const { handle, stored } = handlerOver(undefined, { maxBodyBytes: EVENT.length });
    expect(await codeOf(await handle(post(`${EVENT} `)))).toEqual([413, 'body_too_large']);
    expect(await codeOf(await handle(post(`${EVENT} `, new Headers())))).toEqual([
      413,
      'body_too_large',
    ]);
    expect(stored).toEqual([]);
    expect((await handle(post(EVENT))).status).toBe(200);
  });

  test('a body that never ends is not read beyond the cap', async () => {
    const { handle } = handlerOver(undefined, { maxBodyBytes: 10_000 });
    let sent = 0;
    let canceled = false;
    const endless = new ReadableStream<Uint8Array>({
      pull: (controller) => {
        sent += 1_000;
        controller.enqueue(new Uint8Array(1_000));
      },
      cancel: () => {
        canceled = true;
      },
    });
    const request = new Request('https://app.example/', {
      method: 'POST',
      body: endless,
      duplex: 'half',
    } as RequestInit);
    expect(await codeOf(await handle(request))).toEqual([413, 'body_too_large']);
    expect(sent).toBeLessThanOrEqual(13_000);
    expect(canceled).toBe(true);
  });

  test('1 MiB is the cap unless told otherwise', async () => {
    const { handle } = handlerOver();
    const padded = EVENT.padEnd(1024 * 1024, ' ');
    expect((await handle(post(padded))).status).toBe(200);
    expect((await handle(post(`${padded} `))).status).toBe(413);
  });

  test('a body that breaks off: 400', async () => {
    const { handle, stored } = handlerOver();
    const broken = new ReadableStream<Uint8Array>({
      start: (controller) => controller.error(new Error('reset')),
    });
    const request = new Request('https://app.example/', {
      method: 'POST',
      body: broken,
      duplex: 'half',
    } as RequestInit);
    expect(await codeOf(await handle(request))).toEqual([400, 'body_incomplete']);
    expect(stored).toEqual([]);
  });

  test('no signature, a wrong one, a bad or far timestamp: 401, even for what is not an event', async () => {
    const { handle, stored } = handlerOver();
    const farOff = signedHeaders(EVENT, String(clock.now() / 1000 - 301));
    const notInteger = signedHeaders(EVENT, `${clock.now() / 1000}.5`);
    expect(await codeOf(await handle(post(EVENT, new Headers())))).toEqual([401, 'no_signature']);
    expect(await codeOf(await handle(post('{', new Headers())))).toEqual([401, 'no_signature']);
    expect(await codeOf(await handle(post(EVENT, signedHeaders('{}'))))).toEqual([
      401,
      'wrong_signature',
    ]);
    expect(await codeOf(await handle(post(EVENT, farOff)))).toEqual([401, 'outside_tolerance']);
    expect(await codeOf(await handle(post(EVENT, notInteger)))).toEqual([401, 'bad_timestamp']);
    expect(stored).toEqual([]);
  });

  test.each([
    ['not JSON', '{'],
    ['empty', ''],
    ['behind a byte order mark, which is no JSON', `\ufeff${EVENT}`],
    ['not an object', '[]'],
    ['without an event name', '{"job_id":"job_1"}'],
    ['without a job id', '{"event":"job.failed"}'],
    ['with an empty job id', '{"event":"job.failed","job_id":""}'],
    ['with a NUL in the job id', '{"event":"job.failed","job_id":"\\u0000"}'],
    ['with a job id of 201 characters', `{"event":"job.failed","job_id":"${'x'.repeat(201)}"}`],
  ])('verified, but %s: 400', async (_case, body) => {
    const { handle, stored } = handlerOver();
    expect(await codeOf(await handle(post(body)))).toEqual([400, 'malformed_event']);
    expect(stored).toEqual([]);
  });

  test('verified, but not UTF-8: 400', async () => {
    const { handle, stored } = handlerOver();
    const body = new Uint8Array([0x7b, 0x22, 0xff, 0x22, 0x7d]);
    expect(await codeOf(await handle(post(body)))).toEqual([400, 'not_utf8']);
    expect(stored).toEqual([]);
  });

  test('verified, with an event name that is not known: 204, whatever its job id', async () => {
    const { handle, stored } = handlerOver();
    for (const body of [
      '{"event":"job.archived","job_id":"job_1"}',
      '{"event":"job.archived"}',
      '{"event":"toString","job_id":7}',
    ]) {
      expect(await answer(await handle(post(body)))).toEqual([204, null]);
    }
    expect(stored).toEqual([]);
  });
});

describe('what the endpoint answers after the database', () => {
  test.each([
    ['applied', 200],
    ['duplicate', 200],
    ['conflict', 200],
    ['parked', 202],
  ] as const)('%s: %i, with the outcome', async (outcome, status) => {
    const { handle, stored } = handlerOver(() => Promise.resolve(outcome));
    expect(await answer(await handle(post(EVENT)))).toEqual([status, { outcome, job_id: 'job_1' }]);
    expect(stored).toEqual([
      {
        event: 'job.completed',
        jobId: 'job_1',
        status: 'completed',
        body: EVENT,
        result: { artifacts: [] },
      },
    ]);
  });

  test('the store failed: 503 and when to come again; what failed is told to us and not to the sender', async () => {
    const failure = new Error('password authentication failed for user "app"');
    const { handle, errors } = handlerOver(() => Promise.reject(failure));
    const response = await handle(post(EVENT));
    expect(response.headers.get('retry-after')).toBe('30');
    const [status, body] = await answer(response);
    expect(status).toBe(503);
    expect(JSON.stringify(body)).not.toContain('password');
    expect(errors).toEqual([failure]);
  });

  test('nothing is answered before the store has', async () => {
    let asked: (store: (outcome: ReceiveOutcome) => void) => void;
    const storing = new Promise<(outcome: ReceiveOutcome) => void>((resolve) => (asked = resolve));
    const { handle } = handlerOver(() => new Promise((store) => asked(store)));
    let answered = false;
    const answering = handle(post(EVENT)).then((response) => {
      answered = true;
      return response;
    });
    const store = await storing;
    await new Promise((resolve) => setImmediate(resolve));
    expect(answered).toBe(false);
    store('applied');
    expect((await answering).status).toBe(200);
  });
});

describe('what the endpoint refuses to work with', () => {
  test('a request whose body something else has read, since nothing can be verified', async () => {
    const { handle } = handlerOver();
    const request = post(EVENT);
    await request.text();
    await expect(handle(request)).rejects.toBeInstanceOf(InputError);
  });

  test('no secret, an empty one, or a cap that is no number', () => {
    expect(() => handlerOver(undefined, { secrets: '' })).toThrow(InputError);
    expect(() => handlerOver(undefined, { secrets: [] })).toThrow(InputError);
    expect(() => handlerOver(undefined, { maxBodyBytes: Number.NaN })).toThrow(InputError);
  });
});
