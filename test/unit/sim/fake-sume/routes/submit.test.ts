import fc from 'fast-check';
import { afterEach, describe, expect, it } from 'vitest';
import { createFakeSume, type FakeSume } from '../../../../../sim/fake-sume/index.ts';
import { ask, submitJob } from '../ask.ts';

const RUNS = '/models/sume/avatar-video/v1.0/runs';
const made: FakeSume[] = [];

function fakeSume(options: Partial<Parameters<typeof createFakeSume>[0]> = {}): FakeSume {
  const fake = createFakeSume({ secrets: ['whsec'], ...options });
  made.push(fake);
  return fake;
}

afterEach(() => Promise.all(made.splice(0).map((fake) => fake.dispose())));

describe('submitting a run', () => {
  it('answers 202 with the job id as request_id and where to ask next', async () => {
    const fake = fakeSume({ jobId: (key) => `job/${key}` });
    const asked = await ask(fake, 'POST', RUNS, {
      body: { prompt: 'a wave' },
      headers: { 'idempotency-key': 'order 1' },
    });
    expect(asked.status).toBe(202);
    expect(asked.headers.get('content-type')).toBe('application/json');
    expect(asked.json).toEqual({
      data: {
        request_id: 'job/order 1',
        status_url: 'https://api.sume.com/v1/jobs/job%2Forder%201/status',
        result_url: 'https://api.sume.com/v1/jobs/job%2Forder%201/result',
        idempotency_hit: false,
        sync: null,
        job: { id: 'job/order 1', type: 'avatar-video', status: 'queued' },
      },
    });
  });

  it('gives the original job for the same key and body, whatever the order of its fields', async () => {
    const fake = fakeSume();
    const headers = { 'idempotency-key': 'k' };
    const first = await ask(fake, 'POST', RUNS, { body: { a: 1, b: { c: 2, d: 3 } }, headers });
    const jobId = String(first.json.data?.request_id);
    await fake.control.complete(jobId);
    const again = await ask(fake, 'POST', RUNS, { body: { b: { d: 3, c: 2 }, a: 1 }, headers });
    expect(again.status).toBe(202);
    expect(again.json.data).toMatchObject({
      request_id: jobId,
      idempotency_hit: true,
      job: { status: 'completed' },
    });
    expect(fake.control.truth().size).toBe(1);
  });

  it('refuses the same key with another body or another model', async () => {
    const fake = fakeSume();
    const headers = { 'idempotency-key': 'k' };
    await ask(fake, 'POST', RUNS, { body: { a: 1 }, headers });
    for (const asked of [
      await ask(fake, 'POST', RUNS, { body: { a: 2 }, headers }),
      await ask(fake, 'POST', '/models/sume/upscale/v1/runs', { body: { a: 1 }, headers }),
    ]) {
      expect(asked.status).toBe(409);
      expect(asked.json.error?.code).toBe('idempotency_conflict');
      expect(asked.json.request_id).toMatch(/^req_/);
    }
    expect(fake.control.truth().size).toBe(1);
  });

  it('gives the original job while the first submit is still in flight', async () => {
    const fake = fakeSume();
    const hold = fake.control.holdAnswers('submit');
    const first = submitJob(fake, { key: 'k' });
    await hold.arrived();
    hold.release(0);
    const second = submitJob(fake, { key: 'k' });
    await expect.poll(() => hold.held.length).toBe(2);
    hold.release();
    expect(await first).toBe(await second);
    expect(fake.requests.map((request) => request.answer?.body.includes('hit":true'))).toEqual([
      false,
      true,
    ]);
    expect(fake.control.truth().size).toBe(1);
  });

  it('gives the original job after the first answer was lost', async () => {
    const fake = fakeSume();
    await fake.control.nextAnswer('submit', { kind: 'answer-lost' });
    const lost = await ask(fake, 'POST', RUNS, {
      body: { prompt: 'a' },
      headers: { 'idempotency-key': 'k' },
    });
    expect(lost.status).toBe(0);
    const again = await ask(fake, 'POST', RUNS, {
      body: { prompt: 'a' },
      headers: { 'idempotency-key': 'k' },
    });
    expect(again.json.data?.['idempotency_hit']).toBe(true);
    expect(fake.control.truth().size).toBe(1);
  });

  it('takes two submits without a key for two jobs, even with the same body', async () => {
    const fake = fakeSume();
    const ids = [await submitJob(fake), await submitJob(fake)];
    expect(new Set(ids).size).toBe(2);
  });

  it('gives ids that do not depend on the order in which submits arrive', async () => {
    const submits = fc.uniqueArray(
      fc.record({ key: fc.option(fc.stringMatching(/^[a-z0-9]{1,8}$/)), prompt: fc.string() }),
      { selector: (submit) => submit.key ?? `without ${submit.prompt}`, maxLength: 8 },
    );
    const withShuffle = submits.chain((list) =>
      fc.tuple(fc.constant(list), fc.shuffledSubarray(list, { minLength: list.length })),
    );
    await fc.assert(
      fc.asyncProperty(withShuffle, async ([list, shuffled]) => {
        const idsOf = async (order: typeof list): Promise<Map<unknown, string>> => {
          const fake = fakeSume({ seed: 7 });
          const ids = new Map<unknown, string>();
          for (const submit of order) {
            const { key, prompt } = submit;
            ids.set(
              submit,
              await submitJob(fake, { ...(key === null ? {} : { key }), body: { prompt } }),
            );
          }
          return ids;
        };
        const [one, other] = [await idsOf(list), await idsOf(shuffled)];
        for (const submit of list) expect(other.get(submit)).toBe(one.get(submit));
      }),
      { numRuns: 40 },
    );
  });

  it('answers sync and subscribe as it answers async', async () => {
    const fake = fakeSume();
    for (const mode of ['async', 'sync', 'subscribe']) {
      const asked = await ask(fake, 'POST', RUNS, { body: { mode } });
      expect(asked.status).toBe(202);
      expect(asked.json.data).toMatchObject({ sync: null, job: { status: 'queued' } });
    }
  });

  it.each([
    ['a body that is not JSON', '{"prompt":', 400],
    ['an empty body', '', 400],
    ['an array', '[]', 400],
    ['null', 'null', 400],
    ['an unknown mode', { mode: 'later' }, 400],
    ['a mode that is no string', { mode: 1 }, 400],
    ['webhook mode without an address', { mode: 'webhook' }, 400],
    [
      'two webhook addresses',
      { webhook_url: 'https://a.example', callback_url: 'https://a.example' },
      400,
    ],
    ['an address that is none', { webhook_url: 'hook' }, 400],
    ['http on another host', { webhook_url: 'http://app.example/hook' }, 400],
    [
      'http on a host that only looks like loopback',
      { webhook_url: 'http://127.0.0.1.example' },
      400,
    ],
    ['another protocol', { webhook_url: 'ftp://localhost/hook' }, 400],
    ['an address with a password', { webhook_url: 'https://a:b@app.example' }, 400],
    ['an address that is no string', { webhook_url: 5 }, 400],
    ['a body over the limit', JSON.stringify({ prompt: 'x'.repeat(1_048_576) }), 413],
  ])('refuses %s', async (_what, body, status) => {
    const fake = fakeSume();
    const asked = await ask(fake, 'POST', RUNS, { body });
    expect(asked.status).toBe(status);
    expect(asked.json.error?.message).toBeTruthy();
    expect(fake.control.truth().size).toBe(0);
  });

  it.each([
    { webhook_url: 'https://app.example/hook' },
    { callback_url: 'https://app.example/hook' },
    { webhook_url: 'http://localhost:3000/hook', mode: 'webhook' },
    { webhook_url: 'http://127.0.0.1:3000/hook' },
    { webhook_url: 'http://[::1]:3000/hook' },
    { webhook_url: null },
  ])('takes %j', async (body) => {
    expect((await ask(fakeSume(), 'POST', RUNS, { body })).status).toBe(202);
  });

  it('refuses a body that is not UTF-8, one that breaks off, and one of another type', async () => {
    const fake = fakeSume();
    const { getResponse } = await import('msw');
    const post = async (body: BodyInit, type: string): Promise<number | undefined> => {
      const request = new Request(`${fake.baseUrl}${RUNS}`, {
        method: 'POST',
        headers: { 'x-api-key': 'k', 'content-type': type },
        body,
        ...(body instanceof ReadableStream ? { duplex: 'half' } : {}),
      });
      return (await getResponse(fake.handlers, request))?.status;
    };
    expect(await post(new Uint8Array([0x7b, 0xff, 0x7d]), 'application/json')).toBe(400);
    const broken = new ReadableStream({
      start(controller) {
        controller.enqueue(new TextEncoder().encode('{"a":'));
        controller.error(new Error('connection reset'));
      },
    });
    expect(await post(broken, 'application/json')).toBe(400);
    expect(await post('{}', 'text/plain')).toBe(415);
    expect(await post('{}', 'application/json; charset=utf-8')).toBe(202);
    expect(await post('{}', 'application/vnd.api+json')).toBe(202);
  });

  it('refuses an idempotency key that is empty or over-long', async () => {
    const fake = fakeSume();
    for (const key of ['', 'k'.repeat(256)]) {
      const asked = await ask(fake, 'POST', RUNS, {
        body: {},
        headers: { 'idempotency-key': key },
      });
      expect(asked.status).toBe(400);
    }
    expect(
      (await ask(fake, 'POST', RUNS, { body: {}, headers: { 'idempotency-key': 'k'.repeat(255) } }))
        .status,
    ).toBe(202);
  });

  it('answers 402 once the credits are used up, but still knows the jobs that it made', async () => {
    const fake = fakeSume({ credits: 1 });
    const jobId = await submitJob(fake, { key: 'k' });
    const refused = await ask(fake, 'POST', RUNS, { body: {} });
    expect([refused.status, refused.json.error?.code]).toEqual([402, 'insufficient_credits']);
    expect(await submitJob(fake, { key: 'k' })).toBe(jobId);
    await fake.control.setCredits(1);
    expect(await submitJob(fake)).not.toBe(jobId);
    await expect(fake.control.setCredits(-1)).rejects.toMatchObject({ code: 'bad_option' });
    await fake.control.setCredits(0);
    await fake.control.reset();
    expect(await submitJob(fake)).not.toBe('');
  });

  it('says so when the jobId option gives two keys one name', async () => {
    const fake = fakeSume({ jobId: () => 'job_1' });
    await submitJob(fake, { key: 'a' });
    await expect(submitJob(fake, { key: 'b' })).rejects.toMatchObject({ code: 'bad_option' });
  });
});
