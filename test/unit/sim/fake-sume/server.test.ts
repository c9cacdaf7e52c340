import { createHmac } from 'node:crypto';
import { connect } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import {
  createFakeSumeServer,
  type FakeSumeServer,
  type FakeSumeServerOptions,
} from '../../../../sim/fake-sume/server.ts';
import { createFakeSume, type JobTruth } from '../../../../sim/fake-sume/index.ts';
import { startWebReceiver, type WebReceiver } from './port/web-receiver.ts';

const open: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const one of open.splice(0).toReversed()) await one.close();
});

async function startServer(options: Partial<FakeSumeServerOptions> = {}): Promise<FakeSumeServer> {
  const server = await createFakeSumeServer({ secrets: ['whsec'], autopilot: false, ...options });
  open.push(server);
  return server;
}

async function startReceiver(...args: Parameters<typeof startWebReceiver>): Promise<WebReceiver> {
  const receiver = await startWebReceiver(...args);
  open.push(receiver);
  return receiver;
}

interface Asked<T> {
  status: number;
  headers: Headers;
  json: T;
}

async function call<T = Record<string, never>>(
  url: string,
  body?: unknown,
  headers: Record<string, string> = {},
): Promise<Asked<T>> {
  const response = await fetch(url, {
    method: body === undefined ? 'GET' : 'POST',
    headers: { 'x-api-key': 'k', 'content-type': 'application/json', ...headers },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  return {
    status: response.status,
    headers: response.headers,
    json: (text === '' ? {} : JSON.parse(text)) as T,
  };
}

async function submit(
  server: FakeSumeServer,
  key: string,
  webhookUrl?: string,
  headers: Record<string, string> = {},
): Promise<string> {
  const asked = await call<{ data?: { request_id: string } }>(
    `${server.baseUrl}/models/sume/avatar-video/v1.0/runs`,
    webhookUrl === undefined ? {} : { webhook_url: webhookUrl },
    { 'idempotency-key': key, ...headers },
  );
  if (asked.json.data === undefined) throw new Error(`Refused: ${asked.status}`);
  return asked.json.data.request_id;
}

/** What a server writes to a raw request, until it ends the connection. */
function raw(port: number, text: string | Uint8Array): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => socket.write(text));
    let said = '';
    socket.on('data', (piece) => (said += piece.toString()));
    socket.on('close', () => resolve(said));
    socket.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'ECONNRESET') resolve(`${said}RESET`);
      else reject(error);
    });
  });
}

describe('a fake Sume on a port', () => {
  it('answers what the handlers answer', async () => {
    const server = await startServer();
    const inProcess = createFakeSume({ secrets: ['whsec'], baseUrl: server.baseUrl });
    const { getResponse } = await import('msw');
    const seen: unknown[][] = [];
    for (const ask of [
      (request: Request) => fetch(request),
      (request: Request) => getResponse(inProcess.handlers, request),
    ]) {
      const answers: unknown[] = [];
      const go = async (method: string, path: string, body?: unknown): Promise<void> => {
        const response = await ask(
          new Request(`${server.baseUrl}${path}`, {
            method,
            headers: {
              authorization: 'Bearer k',
              'content-type': 'application/json',
              'idempotency-key': 'job%1/e',
            },
            ...(body === undefined ? {} : { body: JSON.stringify(body) }),
          }),
        );
        const text = (await response?.text()) ?? '';
        answers.push([
          path,
          response?.status,
          response?.headers.get('content-type'),
          response?.headers.get('allow'),
          text.replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'TIME'),
        ]);
      };
      await go('POST', '/models/a/b/runs', { prompt: 'é😀' });
      const { control } = seen.length === 0 ? server.fake : inProcess;
      const [jobId = ''] = control.truth().keys();
      for (const route of ['', '/status', '/result', '/events', '/nothing']) {
        await go('GET', `/jobs/${encodeURIComponent(jobId)}${route}`);
      }
      await go('POST', '/models/a/b/runs', { prompt: 'other' });
      await go('POST', `/jobs/${jobId}/cancel`);
      await go('GET', '/jobs?limit=1');
      await go('GET', '/jobs?limit=x');
      await go('GET', '/jobs/a%2Fb%20c');
      await go('GET', '/jobs/%ff');
      await go('DELETE', '/jobs');
      await go('GET', '/../v2');
      seen.push(answers);
    }
    expect(seen[0]).toEqual(seen[1]);
  });

  it('delivers signed webhooks over HTTP, and tries again until they are taken', async () => {
    const receiver = await startReceiver((response, _received, count) => {
      response.statusCode = count < 3 ? 500 : 204;
      response.end(count < 3 ? 'not yet' : undefined);
    });
    const server = await startServer({ timeScale: 1_000 });
    const jobId = await submit(server, 'a', receiver.url);
    await server.fake.control.complete(jobId);
    await server.fake.control.settle();
    expect(receiver.received).toHaveLength(3);
    for (const { headers, body } of receiver.received) {
      const digest = createHmac('sha256', 'whsec')
        .update(`${String(headers['x-sume-timestamp'])}.${body}`)
        .digest('hex');
      expect(headers['x-sume-signature']).toBe(`v1=${digest}`);
      expect(JSON.parse(body)).toMatchObject({ event: 'job.completed', job_id: jobId });
    }
    const [first, second] = server.fake.deliveries[0]?.attempts ?? [];
    expect((second?.sentAtMs ?? 0) - (first?.sentAtMs ?? 0)).toBeGreaterThanOrEqual(30_000);
    expect(server.fake.deliveries).toMatchObject([
      {
        state: 'delivered',
        attempts: [{ answer: { status: 500, body: 'not yet' } }, {}, { answer: { status: 204 } }],
      },
    ]);
  });

  it('runs jobs by itself, unless it is told not to', async () => {
    const server = await startServer({ autopilot: true, timeScale: 1_000 });
    const jobId = await submit(server, 'a');
    await server.fake.control.settle();
    const asked = await call(`${server.baseUrl}/jobs/${jobId}/result`);
    expect(asked.status).toBe(200);
  });

  it('delivers to other machines only where they were named, and says why not', async () => {
    const lines: string[] = [];
    const server = await startServer({ log: (line) => lines.push(line) });
    const jobId = await submit(server, 'a', 'https://app.example/hook');
    await server.fake.control.complete(jobId);
    await expect
      .poll(() => server.fake.deliveries[0]?.attempts[0]?.failure?.message)
      .toMatch(/app\.example is not this machine: name it with allowWebhookHosts/);
    expect(lines).toContainEqual(
      expect.stringMatching(/webhook\/job_\w+ job\.completed attempt 1 .* unreachable \(app\.ex/),
    );
  });

  it('says of each request what was answered, and which fault was in it', async () => {
    const lines: string[] = [];
    const server = await startServer({ log: (line) => lines.push(line), timeScale: 1_000 });
    const jobId = await submit(server, 'a');
    const status = `${server.baseUrl}/jobs/${jobId}/status`;
    for (const answer of [{ kind: 'empty' }, { kind: 'slow', ms: 30 }] as const) {
      await server.fake.control.nextAnswer('status', answer);
      await call(status);
    }
    await server.fake.control.nextAnswer('status', { kind: 'answer-lost' });
    await expect(call(status)).rejects.toThrow();
    await call(status);
    expect(lines.filter((line) => line.startsWith('GET '))).toEqual([
      `GET /v1/jobs/${jobId}/status → 200 (empty)`,
      `GET /v1/jobs/${jobId}/status → 200 (30 ms late)`,
      `GET /v1/jobs/${jobId}/status → no answer (answer-lost)`,
      `GET /v1/jobs/${jobId}/status → 200`,
    ]);
  });

  it('does not follow a receiver’s redirect', async () => {
    const target = await startReceiver();
    const receiver = await startReceiver((response) => {
      response.writeHead(307, { location: target.url });
      response.end();
    });
    const server = await startServer();
    await server.fake.control.complete(await submit(server, 'a', receiver.url));
    await expect.poll(() => server.fake.deliveries[0]?.attempts[0]?.answer?.status).toBe(307);
    expect(target.received).toEqual([]);
  });

  it.each([
    ['hangs', (): void => {}, { reason: 'no-answer' }, null],
    [
      'resets the connection',
      (response: { socket: { resetAndDestroy(): void } | null }) =>
        response.socket?.resetAndDestroy(),
      { reason: 'unreachable' },
      null,
    ],
    [
      'answers a megabyte of HTML',
      (response: { statusCode: number; end(text: string): void }) => {
        response.statusCode = 502;
        response.end('<p>'.repeat(350_000));
      },
      null,
      { status: 502 },
    ],
  ])('lives on when a receiver %s', async (_what, answer, failure, answered) => {
    const receiver = await startReceiver(answer);
    const server = await startServer();
    const jobId = await submit(server, 'a', receiver.url);
    await server.fake.control.complete(jobId);
    await expect.poll(() => receiver.received.length).toBe(1);
    // A receiver that has not answered is given real time for it before its limit strikes.
    await server.fake.control.advance(10_000);
    await expect
      .poll(() => server.fake.deliveries[0]?.attempts[0]?.endedAtMs ?? 0)
      .toBeGreaterThan(0);
    const attempt = server.fake.deliveries[0]?.attempts[0];
    if (failure === null) expect(attempt?.failure).toBeNull();
    else expect(attempt?.failure).toMatchObject(failure);
    if (answered === null) expect(attempt?.answer).toBeNull();
    else expect(attempt?.answer).toMatchObject(answered);
    expect(attempt?.answer?.body.length ?? 0).toBeLessThan(1_100);
    expect((await call(`${server.baseUrl}/health`)).status).toBe(200);
  });
});

describe('what is no proper request', () => {
  it('gets a definite answer, and the server lives on', async () => {
    const lines: string[] = [];
    const server = await startServer({ log: (line) => lines.push(line) });
    const runs = 'POST /v1/models/m/runs HTTP/1.1\r\nhost: x\r\nx-api-key: k\r\n';
    const json = 'content-type: application/json\r\nconnection: close\r\n';
    expect(await raw(server.port, 'nonsense\r\n\r\n')).toMatch(/^HTTP\/1\.1 400 /);
    expect(await raw(server.port, `GET / HTTP/1.1\r\nx: ${'y'.repeat(40_000)}\r\n\r\n`)).toMatch(
      /^HTTP\/1\.1 4\d\d /,
    );
    expect(await raw(server.port, `${runs}${json}content-length: 5\r\n\r\n{"a":`)).toMatch(
      /^HTTP\/1\.1 400 [^]*The body is not JSON/,
    );
    expect(await raw(server.port, `${runs}${json}content-length: 2\r\n\r\n\xff\xfe`)).toMatch(
      /^HTTP\/1\.1 400 /,
    );
    expect(
      await raw(
        server.port,
        `${runs}content-type: text/plain\r\nconnection: close\r\ncontent-length: 2\r\n\r\n{}`,
      ),
    ).toMatch(/^HTTP\/1\.1 415 /);
    expect(
      await raw(
        server.port,
        'GET http://x/v1/health HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n',
      ),
    ).toMatch(/^HTTP\/1\.1 200 /);
    expect((await call(`${server.baseUrl}/health`)).status).toBe(200);
    expect(lines).toContainEqual(expect.stringMatching(/not HTTP/));
    expect(server.fake.control.truth().size).toBe(0);
  });

  it('that is half-sent changes nothing', async () => {
    const server = await startServer();
    const socket = connect(server.port, '127.0.0.1');
    socket.write(
      'POST /v1/models/m/runs HTTP/1.1\r\nhost: x\r\nx-api-key: k\r\ncontent-type: application/json\r\ncontent-length: 100\r\n\r\n{"a"',
    );
    await expect.poll(() => server.fake.requests.length).toBe(1);
    socket.destroy();
    await expect.poll(() => server.fake.requests[0]?.answer?.status).toBe(400);
    expect(server.fake.control.truth().size).toBe(0);
  });

  it('that is too large is refused without being read to its end', async () => {
    const server = await startServer();
    const said = await raw(
      server.port,
      'POST /v1/models/m/runs HTTP/1.1\r\nhost: x\r\nx-api-key: k\r\ncontent-type: application/json\r\n' +
        `content-length: 5000000000\r\n\r\n${'x'.repeat(1_500_000)}`,
    );
    expect(said).toMatch(/^HTTP\/1\.1 413 /);
  });

  it('and is refused in the middle of its body leaves the connection good for the next one', async () => {
    const server = await startServer();
    const head = 'POST /v1/models/m/runs HTTP/1.1\r\nhost: x\r\nx-api-key: k\r\n';
    const body = `content-type: application/json\r\ncontent-length: 600001\r\n\r\n`;
    const next = 'GET /v1/health HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n';
    const bytes = Buffer.concat([
      Buffer.from(`${head}${body}`),
      Buffer.from([0xff]),
      Buffer.alloc(600_000, 'x'),
      Buffer.from(next),
    ]);
    expect(await raw(server.port, bytes)).toMatch(/^HTTP\/1\.1 400 [^]*HTTP\/1\.1 200 /);
  });

  it('is waited for no longer than its client waits', async () => {
    const server = await startServer();
    await server.fake.control.nextAnswer('me', { kind: 'no-answer' });
    const leaving = new AbortController();
    const asking = fetch(`${server.baseUrl}/me`, {
      headers: { 'x-api-key': 'k' },
      signal: leaving.signal,
    }).catch(() => 'left');
    await expect.poll(() => server.fake.control.pending().length).toBe(1);
    leaving.abort();
    expect(await asking).toBe('left');
    await server.fake.control.settle();
    expect(server.fake.requests[0]?.lost).toBe(true);
  });

  it('loses its connection when its answer is lost', async () => {
    const server = await startServer();
    await server.fake.control.nextAnswer('health', { kind: 'answer-lost' });
    await expect(fetch(`${server.baseUrl}/health`)).rejects.toThrow('fetch failed');
    expect((await call(`${server.baseUrl}/health`)).status).toBe(200);
  });
});

describe('an armed answer', () => {
  it.each(['Content-Length', 'CONTENT-LENGTH', 'content-length'])(
    'that names its length as %s is as long as it is',
    async (name) => {
      const server = await startServer();
      await server.fake.control.nextAnswer('health', {
        kind: 'response',
        status: 200,
        headers: { [name]: '3' },
        body: 'longer',
      });
      const said = await raw(
        server.port,
        'GET /v1/health HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n',
      );
      expect(said.match(/content-length: \d+/gi)).toEqual(['content-length: 6']);
      expect(said).toMatch(/\r\n\r\nlonger$/);
    },
  );
});

describe('namespaces', () => {
  it('keep tests on one server apart, by a header or by the key', async () => {
    const receiver = await startReceiver();
    const server = await startServer({ apiKeys: ['good'] });
    const a = { 'x-api-key': 'good', 'x-sume-sim-namespace': 'a' };
    const b = { 'x-api-key': 'ns.b.good' };
    const ids = [
      await submit(server, 'same', receiver.url, a),
      await submit(server, 'same', receiver.url, b),
      await submit(server, 'same', receiver.url, { 'x-api-key': '', authorization: 'Bearer good' }),
    ];
    expect(new Set(ids).size).toBe(3);
    for (const [index, headers] of [a, b].entries()) {
      const own = await call(`${server.baseUrl}/jobs/${ids[index]}`, undefined, headers);
      const other = await call(`${server.baseUrl}/jobs/${ids[1 - index]}`, undefined, headers);
      expect([own.status, other.status]).toEqual([200, 404]);
    }
    expect([...server.namespace('a').control.truth().keys()]).toEqual([ids[0]]);
    await call(`${server.controlUrl}/reset`, {}, a);
    expect(server.namespace('a').control.truth().size).toBe(0);
    expect(server.namespace('b').control.truth().size).toBe(1);
    expect(server.fake.control.truth().size).toBe(1);
    // The bare key is what is checked.
    const bad = await call(`${server.baseUrl}/jobs`, undefined, { 'x-api-key': 'ns.b.bad' });
    expect(bad.status).toBe(401);
    const odd = await call(`${server.baseUrl}/jobs`, undefined, { 'x-sume-sim-namespace': 'a b' });
    expect(odd.status).toBe(400);
  });

  it('get the same ids for the same name from the same seed', async () => {
    const idOf = async (): Promise<string> =>
      submit(await startServer({ seed: 5 }), 'k', undefined, { 'x-sume-sim-namespace': 'a' });
    expect(await idOf()).toBe(await idOf());
  });
});

describe('the same seed and the same requests', () => {
  it('meet the same faults, on the port as well', async () => {
    const log = async (seed: number): Promise<unknown> => {
      const receiver = await startReceiver();
      const server = await startServer({
        seed,
        timeScale: 500,
        autopilot: true,
        faults: {
          answers: {
            '*': { delayMs: [0, 50], rateLimited: 0.2, serverError: 0.2, answerLost: 0.2 },
          },
          deliveries: { delayMs: [0, 500], requestLost: 0.3, acknowledgementLost: 0.3 },
          events: { duplicate: 0.5, contradict: 0.3, forge: 0.5, stale: 0.5 },
          jobs: { early: 0.3, fail: 0.3 },
        },
      });
      await Promise.all(
        Array.from({ length: 8 }, async (_, number) => {
          for (let count = 0; count < 3; count += 1) {
            await submit(server, `key-${number}`, receiver.url).catch(() => 'lost');
            await call(`${server.baseUrl}/jobs/job-${number}/status`).catch(() => 'lost');
          }
        }),
      );
      await server.fake.control.settle();
      const { requests, deliveries } = server.fake;
      const lines = [
        ...requests.map(
          ({ path, headers, answer, lost }) =>
            `${path} ${headers['idempotency-key'] ?? ''} ${answer?.status} ${lost}`,
        ),
        ...deliveries.map(({ name, event, state, attempts }) => {
          const outcomes = attempts.map(({ answer, failure }) => answer?.status ?? failure?.reason);
          return `${name} ${event} ${state} ${outcomes.join()}`;
        }),
      ];
      return lines.sort((one, other) => one.localeCompare(other));
    };
    const first = await log(3);
    expect(await log(3)).toEqual(first);
    expect(await log(4)).not.toEqual(first);
  });
});

describe('closing', () => {
  it('leaves nothing pending: no connection, no delivery, no port', async () => {
    const receiver = await startReceiver(() => {});
    const server = await createFakeSumeServer({ secrets: ['whsec'] });
    const jobId = await submit(server, 'a', receiver.url);
    await submit(server, 'b', receiver.url);
    await server.fake.control.complete(jobId);
    await expect.poll(() => receiver.received.length).toBe(1);
    const hold = server.fake.control.holdAnswers('me');
    const asking = call(`${server.baseUrl}/me`).catch((error: unknown) => error);
    await hold.arrived();
    await server.close();
    expect(await asking).toBeInstanceOf(TypeError);
    expect(server.fake.control.pending()).toEqual([]);
    await expect(fetch(`${server.baseUrl}/health`)).rejects.toThrow('fetch failed');
    const again = await startServer({ port: server.port });
    expect(again.port).toBe(server.port);
  });

  it('and starting on a port that is taken says so', async () => {
    const server = await startServer();
    await expect(
      createFakeSumeServer({ secrets: ['whsec'], port: server.port }),
    ).rejects.toMatchObject({
      code: 'cannot_listen',
      message: expect.stringMatching(
        /something listens there already: give another port/,
      ) as string,
    });
    await expect(
      createFakeSumeServer({ secrets: ['whsec'], host: '203.0.113.7' }),
    ).rejects.toMatchObject({ code: 'cannot_listen' });
  });

  it.each([
    { secrets: [] },
    { secrets: ['s'], timeScale: 0 },
    { secrets: ['s'], faults: 'wild' as 'chaos' },
  ])('%j cannot be started', async (options) => {
    await expect(createFakeSumeServer(options)).rejects.toMatchObject({ code: 'bad_option' });
  });
});

describe('the control API', () => {
  it('does everything that the control object does', async () => {
    const receiver = await startReceiver((response, _received, count) => {
      response.statusCode = count === 1 ? 500 : 200;
      response.end();
    });
    const server = await startServer();
    const control = async <T>(path: string, body?: unknown): Promise<T> => {
      const asked = await call<T>(`${server.controlUrl}${path}`, body);
      if (asked.status !== 200) throw new Error(JSON.stringify(asked.json));
      return asked.json;
    };
    const { jobId } = await control<{ jobId: string }>('/jobs', {
      webhookUrl: receiver.url,
      idempotencyKey: 'x/y é',
    });
    const job = `/jobs/${encodeURIComponent(jobId)}`;

    const { holdId } = await control<{ holdId: string }>('/holds/deliveries', { jobId });
    await control(`${job}/start`, {});
    const ended = await control<{ outcome: string; job: JobTruth }>(`${job}/complete`, {
      artifacts: [{ url: 'https://cdn.example/a' }],
    });
    expect(ended).toMatchObject({
      outcome: 'changed',
      job: { status: 'completed', result: { artifacts: [{ url: 'https://cdn.example/a' }] } },
    });
    await expect(control('/settle', {})).rejects.toThrow(/still_waiting.*is held/);
    expect(await control('/holds')).toMatchObject({ holds: [{ holdId, held: [{ jobId }] }] });
    await control(`/holds/${holdId}/release`, {});
    await expect.poll(() => receiver.received.length).toBe(1);
    await expect(control('/settle', { timeoutMs: 50 })).rejects.toThrow(/attempt 2.*is due in/);
    await control('/clock/advance', { ms: 30_000 });
    await control('/settle', { jobId });
    expect(receiver.received).toHaveLength(2);

    for (const [verb, body] of Object.entries({
      contradict: { status: 'failed', error: { code: 'x', message: 'y' } },
      announce: { event: 'job.rated', payload: { stars: 5 } },
      deliver: { event: 'job.completed', times: 2 },
      forge: { event: 'job.failed' },
      tamper: {},
      stale: { offsetMs: 400_000 },
    })) {
      await control(`${job}/${verb}`, body);
    }
    await control('/deliveries/replay', { name: `webhook/${jobId}`, attempt: 1 });
    await control('/settle', {});
    expect(receiver.received).toHaveLength(2 + 8);
    const { deliveries } = await control<{ deliveries: { kind: string }[] }>(
      `/deliveries?jobId=${encodeURIComponent(jobId)}`,
    );
    expect(deliveries.map(({ kind }) => kind).sort()).toEqual([
      'announcement',
      'contradiction',
      'duplicate',
      'duplicate',
      'event',
      'forged',
      'replay',
      'stale',
      'tampered',
    ]);

    await control('/answers', {
      route: 'me',
      answer: { kind: 'rate-limited', retryAfterSeconds: 3 },
    });
    const limited = await call(`${server.baseUrl}/me`);
    expect([limited.status, limited.headers.get('retry-after')]).toEqual([429, '3']);
    await control('/credits', { credits: 0 });
    await expect(submit(server, 'poor')).rejects.toThrow('402');
    await control('/credits', { credits: null });
    await control('/secrets', { secrets: ['new', 'old'] });
    await control('/deliveries/drop', { times: 1 });
    const held = await control<{ holdId: string }>('/holds/answers', { route: 'me' });
    const asking = call(`${server.baseUrl}/me`).catch(() => 'lost');
    await expect.poll(() => server.fake.control.pending().length).toBe(1);
    await control(`/holds/${held.holdId}/drop`, {});
    expect(await asking).toBe('lost');

    for (const verb of ['fail', 'cancel', 'expire']) {
      const made = await control<{ jobId: string }>('/jobs', { idempotencyKey: verb });
      expect(await control(`/jobs/${made.jobId}/${verb}`, {})).toMatchObject({
        outcome: 'changed',
      });
    }
    const { jobs } = await control<{ jobs: { status: string }[] }>('/jobs');
    expect(jobs.map(({ status }) => status)).toEqual([
      'completed',
      'failed',
      'canceled',
      'expired',
    ]);
    expect((await control<{ requests: unknown[] }>('/requests')).requests.length).toBeGreaterThan(
      1,
    );
    await control('/reset', {});
    expect(await control('/jobs')).toEqual({ jobs: [] });
    expect(await control('/holds')).toEqual({ holds: [] });
  });

  it('needs no body where nothing has to be said', async () => {
    const server = await startServer();
    const response = await fetch(`${server.controlUrl}/reset`, { method: 'POST' });
    expect(response.status).toBe(200);
  });

  it('describes every operation that it serves, and serves every one that it describes', async () => {
    const server = await startServer();
    const { json } = await call<{
      openapi: string;
      servers: { url: string }[];
      paths: Record<string, Record<string, { operationId: string; requestBody?: object }>>;
    }>(`${server.controlUrl}/openapi.json`);
    expect(json.openapi).toBe('3.1.0');
    expect(json.servers).toEqual([{ url: server.controlUrl }]);
    const ids: string[] = [];
    for (const [path, methods] of Object.entries(json.paths)) {
      for (const [method, operation] of Object.entries(methods)) {
        ids.push(operation.operationId);
        const url = `${server.controlUrl}${path.replace('{jobId}', 'job_x').replace('{holdId}', 'h')}`;
        // A body that no operation takes: an operation that is served says so, or takes none.
        const asked = await call<{ error?: { code: string } }>(
          url,
          method === 'get' ? undefined : { nobody: 'knows this' },
        );
        expect(asked.json.error?.code ?? 'done', url).toBe(method === 'get' ? 'done' : 'bad_call');
      }
    }
    expect(new Set(ids).size).toBe(ids.length);
    // Every verb of the control object is there; two of its names are spelt by what they give.
    const verbs = Object.keys(server.fake.control).filter((name) => name !== 'pending');
    expect(ids).toEqual(expect.arrayContaining(verbs));
    const index = await call<{ operations: unknown[] }>(`${server.controlUrl}/`);
    expect(index.json.operations).toHaveLength(ids.length);
  });

  it('takes every body that it shows, and shows one wherever one can say something', async () => {
    const receiver = await startReceiver();
    const server = await startServer();
    const { json } = await call<{
      paths: Record<
        string,
        Record<
          string,
          {
            requestBody?: { content: { 'application/json': { schema: object; example?: object } } };
          }
        >
      >;
    }>(`${server.controlUrl}/openapi.json`);
    const taken: string[] = [];
    for (const [template, { post }] of Object.entries(json.paths)) {
      const body = post?.requestBody?.content['application/json'];
      if (body === undefined || Object.keys(Reflect.get(body.schema, 'properties')).length === 0) {
        continue;
      }
      expect(body.example, template).toBeDefined();
      await call(`${server.controlUrl}/reset`, {});
      const { json: made } = await call<{ jobId: string }>(`${server.controlUrl}/jobs`, {
        webhookUrl: receiver.url,
      });
      const { jobId } = made;
      const ends = ['complete', 'fail'].some((verb) => template.endsWith(verb));
      if (!ends) await call(`${server.controlUrl}/jobs/${jobId}/complete`, {});
      await call(`${server.controlUrl}/holds/deliveries`, { jobId });
      const path = template.replace('{jobId}', jobId).replace('{holdId}', 'hold-1');
      const shown = JSON.stringify(body.example).replace('webhook/job_1', `webhook/${jobId}`);
      const asked = await call(`${server.controlUrl}${path}`, JSON.parse(shown));
      expect([asked.status, asked.json], path).toEqual([200, expect.anything()]);
      taken.push(template);
    }
    expect(taken.length).toBeGreaterThan(15);
  });

  it('names the operation of a verb that is looked for by its name in the control object', async () => {
    const server = await startServer();
    const messageOf = async (path: string): Promise<string> => {
      const response = await fetch(`${server.controlUrl}${path}`);
      return ((await response.json()) as { error: { message: string } }).error.message;
    };
    expect(await messageOf('/truth')).toContain('truth is GET /__sim/jobs.');
    expect(await messageOf('/advance')).toContain('advance is POST /__sim/clock/advance.');
    expect(await messageOf('/nothing')).toContain('GET /__sim/ shows what is.');
  });

  it.each([
    ['GET', '/nothing', undefined, 404, 'unknown_operation'],
    ['GET', '/reset', undefined, 405, 'method_not_allowed'],
    ['POST', '/jobs/job_x/complete', '{}', 404, 'unknown_job'],
    ['POST', '/jobs/job_x/complete', '{"artefacts":[]}', 400, 'bad_call'],
    ['POST', '/jobs/job_x/complete', '{', 400, 'bad_call'],
    ['POST', '/jobs/job_x/complete', '[]', 400, 'bad_call'],
    ['POST', '/jobs/%ff/complete', '{}', 400, 'bad_call'],
    ['POST', '/jobs/job_x/forge', '{"event":"job.failed"}', 400, 'bad_control'],
    ['POST', '/jobs', '{"webhookUrl":"http://a.example"}', 400, 'bad_control'],
    ['POST', '/answers', '{"route":"me","answer":{"kind":"slow"}}', 400, 'bad_call'],
    ['POST', '/answers', '{"route":"me","answer":{"kind":"response"}}', 400, 'bad_call'],
    ['POST', '/answers', '{"route":"mine","answer":{"kind":"empty"}}', 400, 'bad_call'],
    [
      'POST',
      '/answers',
      '{"route":"me","answer":{"kind":"response","status":200,"headers":{"x-a":"a\\nb"}}}',
      400,
      'bad_control',
    ],
    ['POST', '/holds/hold-9/release', '{}', 400, 'bad_call'],
    ['POST', '/deliveries/replay', '{"name":"webhook/x"}', 400, 'bad_call'],
    ['POST', '/secrets', '{"secrets":[""]}', 400, 'bad_option'],
    ['POST', '/secrets', '{"secrets":[]}', 400, 'bad_call'],
    ['POST', '/clock/advance', '{"ms":-1}', 400, 'bad_call'],
    ['GET', '/deliveries?job=x', undefined, 400, 'bad_call'],
  ])('%s %s %s is %d %s', async (method, path, body, status, code) => {
    const server = await startServer();
    const response = await fetch(`${server.controlUrl}${path}`, {
      method,
      headers: { 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body }),
    });
    const { error } = (await response.json()) as { error: { code: string; message: string } };
    expect([response.status, error.code]).toEqual([status, code]);
    expect(error.message).toMatch(/\S/);
  });

  it('refuses a body over the limit', async () => {
    const server = await startServer();
    const asked = await call<{ error: { code: string } }>(`${server.controlUrl}/reset`, {
      much: 'x'.repeat(1_100_000),
    });
    expect([asked.status, asked.json.error.code]).toEqual([413, 'payload_too_large']);
  });

  it('cannot be driven by a web page', async () => {
    const server = await startServer();
    const jobId = await submit(server, 'a');
    const { host } = new URL(server.baseUrl);
    const post = (headers: string, body = '{}'): Promise<string> =>
      raw(
        server.port,
        `POST /__sim/jobs/${jobId}/fail HTTP/1.1\r\nconnection: close\r\n${headers}\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
      );
    const json = 'content-type: application/json';
    for (const [headers, status] of [
      [`host: evil.example\r\n${json}`, 403],
      [`host: ${host}\r\norigin: http://evil.example\r\n${json}`, 403],
      [`host: ${host}\r\nsec-fetch-site: cross-site\r\n${json}`, 403],
      // What a form can send without being asked first.
      [`host: ${host}\r\ncontent-type: text/plain`, 400],
    ] as const) {
      expect(await post(headers)).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
    }
    expect(server.fake.control.truth().get(jobId)?.status).toBe('queued');
    expect(await post(`host: ${host}\r\n${json}`)).toMatch(/^HTTP\/1\.1 200 /);
  });
});
