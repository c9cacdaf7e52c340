import { describe, expect, it } from 'vitest';
import {
  createFakeClock,
  createFakeSume,
  PUBLISHED_LIMITS,
  type FakeSume,
} from '../../../../sim/fake-sume/index.ts';
import { ask, submitJob } from './ask.ts';

describe('who is let in', () => {
  const withKeys = (): FakeSume => createFakeSume({ secrets: ['whsec'], apiKeys: ['good'] });

  it.each([
    ['a bearer key', { authorization: 'Bearer good' }, 200],
    ['a bearer key in another spelling', { authorization: 'bearer  good' }, 200],
    ['x-api-key', { authorization: '', 'x-api-key': 'good' }, 200],
    ['no key', { authorization: '' }, 401],
    ['an unknown key', { authorization: 'Bearer bad' }, 401],
    ['another scheme', { authorization: 'Basic good' }, 401],
    ['half a header', { authorization: 'Bearer' }, 401],
  ])('%s', async (_what, headers, status) => {
    const asked = await ask(withKeys(), 'GET', '/jobs', { headers });
    expect(asked.status).toBe(status);
    if (status === 401) {
      expect(asked.json.error?.code).toBe('unauthorized');
      expect(asked.json.request_id).toMatch(/^req_[0-9a-f]+$/);
    }
  });

  it('takes any key when none was agreed on', async () => {
    const fake = createFakeSume({ secrets: ['whsec'] });
    const headers = { authorization: 'Bearer whatever' };
    expect((await ask(fake, 'GET', '/jobs', { headers })).status).toBe(200);
  });

  it('refuses without any effect', async () => {
    const fake = withKeys();
    const asked = await ask(fake, 'POST', '/models/m/runs', {
      body: {},
      headers: { authorization: 'Bearer bad' },
    });
    expect([asked.status, fake.control.truth().size]).toEqual([401, 0]);
  });
});

describe('rate limits', () => {
  it('are off unless they are asked for', async () => {
    const fake = createFakeSume({ secrets: ['whsec'] });
    for (let count = 0; count < 200; count += 1) {
      const asked = await ask(fake, 'GET', '/me');
      expect([asked.status, asked.headers.get('ratelimit-limit')]).toEqual([200, null]);
    }
  });

  it('are 120 reads and 10 generations a minute and key, as published', async () => {
    const fake = createFakeSume({
      secrets: ['whsec'],
      limits: PUBLISHED_LIMITS,
      clock: createFakeClock(0),
    });
    const statuses = async (count: number, method: string, path: string): Promise<number[]> => {
      const seen = [];
      for (let index = 0; index < count; index += 1) {
        const body = method === 'POST' ? { body: { index } } : {};
        seen.push((await ask(fake, method, path, body)).status);
      }
      return seen;
    };
    expect(await statuses(11, 'POST', '/models/m/runs')).toEqual([
      ...Array.from({ length: 10 }, () => 202),
      429,
    ]);
    expect(await statuses(121, 'GET', '/jobs')).toEqual([
      ...Array.from({ length: 120 }, () => 200),
      429,
    ]);
    // Another key has buckets of its own, and health has none.
    const other = { authorization: 'Bearer other' };
    expect((await ask(fake, 'GET', '/jobs', { headers: other })).status).toBe(200);
    expect((await ask(fake, 'GET', '/health')).status).toBe(200);
    expect(fake.control.truth().size).toBe(10);
  });

  it('tell how much is left, and when to come back', async () => {
    const fake = createFakeSume({
      secrets: ['whsec'],
      limits: { readPerMinute: 2, generationPerMinute: 1 },
      clock: createFakeClock(1_000),
    });
    const look = async (): Promise<unknown[]> => {
      const { status, headers } = await ask(fake, 'GET', '/jobs/job_none');
      return [
        status,
        ...['limit', 'remaining', 'reset'].map((name) => headers.get(`ratelimit-${name}`)),
        headers.get('retry-after'),
      ];
    };
    expect(await look()).toEqual([404, '2', '1', '60', null]);
    await fake.control.advance(10_500);
    expect(await look()).toEqual([404, '2', '0', '50', null]);
    expect(await look()).toEqual([429, '2', '0', '50', '50']);
    await fake.control.advance(49_499);
    expect(await look()).toEqual([429, '2', '0', '1', '1']);
    await fake.control.advance(1);
    expect(await look()).toEqual([404, '2', '1', '60', null]);
  });

  it('must be whole numbers above 0', () => {
    const limits = { readPerMinute: 0, generationPerMinute: 1 };
    expect(() => createFakeSume({ secrets: ['whsec'], limits })).toThrow(/readPerMinute is 0/);
  });
});

describe('a request that is no route of Sume', () => {
  const fake = createFakeSume({ secrets: ['whsec'], baseUrl: 'http://127.0.0.1:9/v1/' });

  it('fails loudly and names the nearest route', async () => {
    const asked = await ask(fake, 'GET', '/job/job_1/status');
    expect([asked.status, asked.json.error?.code]).toEqual([501, 'unknown_route']);
    expect(asked.json.error?.message).toContain('GET /jobs/{job}/status');
    expect(asked.json.error?.message).toContain('http://127.0.0.1:9/v1');
    expect(asked.json.error?.details).toEqual({ nearest: 'GET /jobs/{job}/status' });
  });

  it('is told the base URL when it is not below it', async () => {
    for (const path of ['/../v2/jobs', '/..', '/../v1beta/jobs']) {
      const asked = await ask(fake, 'GET', path);
      expect([asked.status, asked.json.error?.code]).toEqual([501, 'unknown_route']);
      expect(asked.json.error?.message).toContain('http://127.0.0.1:9/v1/');
    }
  });

  it('is told the method that the path takes', async () => {
    const asked = await ask(fake, 'DELETE', '/jobs/job_1');
    expect([asked.status, asked.headers.get('allow')]).toEqual([405, 'GET']);
  });

  it('is 400 for a path that cannot be decoded', async () => {
    expect((await ask(fake, 'GET', '/jobs/%E0%A4')).status).toBe(400);
  });
});

describe('the log of requests', () => {
  it('keeps what was asked and what was answered', async () => {
    const fake = createFakeSume({ secrets: ['whsec'], clock: createFakeClock(5) });
    const jobId = await submitJob(fake, { key: 'k' });
    await ask(fake, 'GET', `/jobs/${jobId}/status?verbose=1`);
    await fake.control.nextAnswer('status', { kind: 'request-lost' });
    await ask(fake, 'GET', `/jobs/${jobId}/status`);
    await ask(fake, 'GET', '/nowhere');
    expect(fake.requests).toMatchObject([
      {
        route: 'submit',
        method: 'POST',
        path: '/v1/models/sume/avatar-video/v1.0/runs',
        jobId,
        headers: { 'idempotency-key': 'k' },
        body: '{"prompt":"a wave","webhook_url":"https://app.example/hook"}',
        atMs: 5,
        answer: { status: 202 },
        instead: null,
        delayMs: 0,
        lost: false,
      },
      { route: 'status', jobId, path: `/v1/jobs/${jobId}/status?verbose=1`, body: '' },
      { route: 'status', jobId, answer: null, lost: true, instead: 'request-lost' },
      { route: null, jobId: null, answer: { status: 501 } },
    ]);
  });
});

describe('options that cannot work', () => {
  it.each([
    ['no secret', { secrets: [] }],
    ['an empty secret', { secrets: ['a', ''] }],
    ['a base URL that is none', { secrets: ['a'], baseUrl: 'api.sume.com' }],
    ['a base URL with a query', { secrets: ['a'], baseUrl: 'https://api.sume.com/v1?x=1' }],
    ['a base URL of another protocol', { secrets: ['a'], baseUrl: 'ftp://api.sume.com' }],
  ])('are refused at once: %s', (_what, options) => {
    expect(() => createFakeSume(options)).toThrow(
      expect.objectContaining({ code: 'bad_option' }) as Error,
    );
  });
});
