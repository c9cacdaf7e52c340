import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createFakeSume, type FakeSume } from '../../../../../sim/fake-sume/index.ts';
import { ask, submitJob } from '../ask.ts';
import { createReceiver } from '../receiver.ts';

let fake: FakeSume;
let jobId: string;

beforeEach(async () => {
  fake = createFakeSume({
    secrets: ['whsec'],
    jobId: (key) => `job ${key}/é`,
    send: createReceiver(() => new Response('no', { status: 500 })).send,
  });
  jobId = await submitJob(fake, { key: '1' });
});
afterEach(() => fake.dispose());

const at = (route = ''): string => `/jobs/${encodeURIComponent(jobId)}${route}`;

describe('reading the status of a job', () => {
  it('names each status in both spellings, and says what to do next', async () => {
    const seen: unknown[] = [];
    const look = async (): Promise<void> => {
      const { data } = (await ask(fake, 'GET', at('/status'))).json;
      seen.push([
        data?.['status'],
        data?.['sume_status'],
        data?.['terminal'],
        data?.['result_ready'],
        data?.['next_action'],
      ]);
    };
    await look();
    await fake.control.start(jobId);
    await look();
    await fake.control.complete(jobId);
    await look();
    expect(seen).toEqual([
      ['IN_QUEUE', 'queued', false, false, 'poll_status'],
      ['IN_PROGRESS', 'processing', false, false, 'poll_status'],
      ['COMPLETED', 'completed', true, true, 'fetch_result'],
    ]);
  });

  it.each([
    ['fail', 'FAILED', 'failed'],
    ['cancel', 'CANCELED', 'canceled'],
    ['expire', 'EXPIRED', 'expired'],
  ] as const)('after %s is terminal without a result', async (verb, word, status) => {
    await fake.control[verb](jobId);
    const asked = await ask(fake, 'GET', at('/status'));
    expect(asked.json.data).toMatchObject({
      status: word,
      sume_status: status,
      terminal: true,
      result_ready: false,
    });
  });

  it('has the whole documented shape', async () => {
    const asked = await ask(fake, 'GET', at('/status'));
    expect(asked.json).toEqual({
      data: {
        request_id: jobId,
        job_id: jobId,
        status: 'IN_QUEUE',
        sume_status: 'queued',
        terminal: false,
        result_ready: false,
        next_action: 'poll_status',
        status_url: `https://api.sume.com/v1${at('/status')}`,
        result_url: `https://api.sume.com/v1${at('/result')}`,
        job: { id: jobId, type: 'avatar-video', status: 'queued' },
      },
    });
  });
});

describe('reading the whole job', () => {
  it('gives its input without the transport fields', async () => {
    const asked = await ask(fake, 'GET', at());
    expect(asked.json.data).toMatchObject({
      id: jobId,
      model: 'sume/avatar-video/v1.0',
      status: 'queued',
      input: { prompt: 'a wave' },
      webhook_url: 'https://app.example/hook',
      error: null,
      terminal_at: null,
    });
    expect(asked.json.data?.['input']).toEqual({ prompt: 'a wave' });
  });

  it('gives the error of a failed job', async () => {
    await fake.control.fail(jobId, { error: { code: 'nsfw', message: 'Refused.' } });
    const asked = await ask(fake, 'GET', at());
    expect(asked.json.data).toMatchObject({
      status: 'failed',
      error: { code: 'nsfw', message: 'Refused.' },
    });
  });
});

describe('reading the result', () => {
  it('is refused until the job has ended', async () => {
    for (const status of ['queued', 'processing']) {
      const asked = await ask(fake, 'GET', at('/result'));
      expect([asked.status, asked.json.error?.code]).toEqual([409, 'result_not_ready']);
      expect(asked.json.error?.details['sume_status']).toBe(status);
      await fake.control.start(jobId);
    }
  });

  it('gives the artifacts of a completed job', async () => {
    const artifacts = [{ url: 'https://cdn.example/a.mp4', width: 1080 }];
    await fake.control.complete(jobId, { artifacts });
    const asked = await ask(fake, 'GET', at('/result'));
    expect(asked.json).toEqual({
      data: { request_id: jobId, status: 'COMPLETED', result: { artifacts } },
    });
    expect(fake.control.truth().get(jobId)?.result).toEqual({ artifacts });
  });

  it('is the same as in the webhook, also when nobody said what it is', async () => {
    await fake.control.complete(jobId);
    const asked = await ask(fake, 'GET', at('/result'));
    const body = JSON.parse(fake.deliveries[0]?.body ?? '') as { payload: unknown };
    expect(asked.json.data?.['result']).toEqual(body.payload);
    expect(JSON.stringify(body.payload)).toContain('https://');
  });

  it('of a job that ended otherwise says why there is none', async () => {
    await fake.control.fail(jobId, { error: { code: 'nsfw', message: 'Refused.' } });
    const asked = await ask(fake, 'GET', at('/result'));
    expect([asked.status, asked.json.error?.code]).toEqual([409, 'result_unavailable']);
    expect(asked.json.error?.details['error']).toEqual({ code: 'nsfw', message: 'Refused.' });
  });
});

describe('listing the events of a job', () => {
  it('tells its whole story, webhook attempts included', async () => {
    await fake.control.start(jobId);
    await fake.control.complete(jobId);
    await fake.control.advance(30_000);
    const asked = await ask(fake, 'GET', at('/events?limit=100'));
    const events = asked.json.data?.events ?? [];
    expect(events.map((event) => event['type'])).toEqual([
      'job.queued',
      'job.processing',
      'job.completed',
      'webhook.attempt_failed',
      'webhook.attempt_failed',
    ]);
    expect(events.every((event) => typeof event['summary'] === 'string')).toBe(true);
    expect(events.at(-1)).toMatchObject({
      attempt: 2,
      response_status: 500,
      event: 'job.completed',
      event_id: fake.deliveries[0]?.eventId,
    });
  });

  it('gives the newest ones up to the limit', async () => {
    await fake.control.start(jobId);
    await fake.control.expire(jobId);
    const asked = await ask(fake, 'GET', at('/events?limit=2'));
    expect(asked.json.data?.events?.map((event) => event['type'])).toEqual([
      'job.processing',
      'job.expired',
    ]);
  });
});

describe('a job that Sume never issued', () => {
  it.each(['', '/status', '/result', '/events'])('is 404 at /jobs/{id}%s', async (route) => {
    const asked = await ask(fake, 'GET', `/jobs/job_nobody${route}`);
    expect([asked.status, asked.json.error?.code]).toEqual([404, 'job_not_found']);
  });

  it('is 404 to cancel', async () => {
    expect((await ask(fake, 'POST', '/jobs/job_nobody/cancel')).status).toBe(404);
  });
});
