import { describe, expect, it } from 'vitest';
import {
  createFakeClock,
  createFakeSume,
  type FakeSume,
  type FakeSumeOptions,
} from '../../../../sim/fake-sume/index.ts';
import { ask, submitJob } from './ask.ts';
import { createReceiver, type Received } from './receiver.ts';

function setUp(options: Partial<FakeSumeOptions>): { fake: FakeSume; received: Received[] } {
  const receiver = createReceiver();
  const fake = createFakeSume({
    secrets: ['s'],
    clock: createFakeClock(0),
    jobId: (key) => `job_${key}`,
    send: receiver.send,
    ...options,
  });
  return { fake, received: receiver.received };
}

describe('jobs that run by themselves', () => {
  it('start and end in their time, and are pushed', async () => {
    const { fake, received } = setUp({ autopilot: true });
    const jobId = await submitJob(fake, { key: 'a' });
    expect(fake.control.truth().get(jobId)?.status).toBe('queued');
    await expect(fake.control.settle()).rejects.toThrow('job/job_a is due in 250 ms');
    await fake.control.advance(250);
    expect(fake.control.truth().get(jobId)?.status).toBe('processing');
    await fake.control.advance(1_000);
    await fake.control.settle();
    expect(fake.control.truth().get(jobId)).toMatchObject({
      history: [
        { status: 'queued', atMs: 0 },
        { status: 'processing', atMs: 250 },
        { status: 'completed', atMs: 1_250 },
      ],
    });
    expect(received.map(({ attempt }) => attempt.event)).toEqual(['job.completed']);
  });

  it('leave alone what was ended by hand', async () => {
    const { fake, received } = setUp({ autopilot: true });
    const jobId = await submitJob(fake, { key: 'a' });
    await fake.control.fail(jobId);
    await fake.control.advance(10_000);
    await fake.control.settle();
    expect(fake.control.truth().get(jobId)?.status).toBe('failed');
    expect(received).toHaveLength(1);
  });

  it('do not run twice for a submit that is repeated', async () => {
    const { fake, received } = setUp({ autopilot: true });
    await submitJob(fake, { key: 'a' });
    await submitJob(fake, { key: 'a' });
    await fake.control.advance(10_000);
    expect(received).toHaveLength(1);
  });

  it('stop at a reset', async () => {
    const { fake, received } = setUp({ autopilot: true });
    await submitJob(fake, { key: 'a' });
    await fake.control.reset();
    await fake.control.advance(10_000);
    await fake.control.settle();
    expect(received).toEqual([]);
  });

  it('are only those of a fake that was told so', async () => {
    const { fake } = setUp({ faults: { jobs: { early: 1, runMs: [0, 0] } } });
    const jobId = await submitJob(fake, { key: 'a' });
    await fake.control.advance(60_000);
    expect(fake.control.truth().get(jobId)?.status).toBe('queued');
  });
});

describe('faults by themselves', () => {
  it('let a webhook arrive before its 202', async () => {
    let answered = false;
    const order: string[] = [];
    const { fake } = setUp({
      autopilot: true,
      faults: { jobs: { early: 1 } },
      send: async (_request, attempt) => {
        order.push(`${attempt.event}, answered: ${answered}`);
        return new Response('ok');
      },
    });
    const jobId = await submitJob(fake, { key: 'a' });
    answered = true;
    expect(order).toEqual(['job.completed, answered: false']);
    expect(fake.control.truth().get(jobId)?.status).toBe('completed');
    // Without a webhook there is nothing to be early.
    await ask(fake, 'POST', '/models/m/runs', { body: {}, headers: { 'idempotency-key': 'b' } });
    expect(fake.control.truth().get('job_b')?.status).toBe('queued');
  });

  it('do every mischief that they are told to, around a genuine event', async () => {
    const { fake, received } = setUp({
      faults: {
        events: { duplicate: 1, contradict: 1, unknown: 1, forge: 1, tamper: 1, stale: 1 },
      },
    });
    const jobId = await submitJob(fake, { key: 'a' });
    await fake.control.complete(jobId);
    await fake.control.advance(60_000);
    await fake.control.settle();
    expect(received.map(({ attempt }) => `${attempt.kind} ${attempt.event}`).sort()).toEqual([
      'announcement job.archived',
      'contradiction job.failed',
      'duplicate job.completed',
      'event job.completed',
      'forged job.failed',
      'stale job.completed',
      'tampered job.failed',
    ]);
    expect(fake.control.truth().get(jobId)?.status).toBe('completed');
  });

  it('keep attempts 30 s apart, delayed ones as well', async () => {
    const sentAtMs: number[] = [];
    const clock = createFakeClock(0);
    const { fake } = setUp({
      clock,
      faults: { deliveries: { delayMs: [400, 400], reorder: 0 } },
      send: async () => {
        sentAtMs.push(clock.now());
        return new Response(null, { status: 500 });
      },
    });
    await fake.control.complete(await submitJob(fake, { key: 'a' }));
    await fake.control.advance(61_200);
    expect(sentAtMs).toEqual([400, 30_800, 61_200]);
    await fake.dispose();
  });

  it('delay answers, replace them, lose them, or never give them', async () => {
    const { fake } = setUp({});
    const waiting = async (): Promise<string> => fake.control.pending().join();
    await fake.control.nextAnswer('me', { kind: 'slow', ms: 5_000 });
    const slow = ask(fake, 'GET', '/me');
    await expect.poll(waiting).toContain('The answer to GET /v1/me is due in 5000 ms');
    await fake.control.advance(5_000);
    expect((await slow).status).toBe(200);

    await fake.control.nextAnswer('me', { kind: 'no-answer' });
    const never = ask(fake, 'GET', '/me');
    await expect.poll(waiting).toContain('GET /v1/me');
    await fake.control.advance(119_999);
    expect(await waiting()).toContain('GET /v1/me');
    await fake.control.advance(1);
    expect((await never).status).toBe(0);
  });

  it('are the same for the same seed and the same requests, in whatever order they come', async () => {
    const log = async (
      seed: number,
      keys: readonly string[],
    ): Promise<Record<string, unknown[]>> => {
      const { fake } = setUp({ seed, faults: 'chaos', autopilot: true, clock: createFakeClock(0) });
      const asks = keys.map(async (key) => {
        for (let count = 0; count < 3; count += 1) {
          const path = `/jobs/job_${key}/status`;
          const submitting = ask(fake, 'POST', '/models/m/runs', {
            body: { webhook_url: 'https://app.example/hook' },
            headers: { 'idempotency-key': key },
          });
          await Promise.race([submitting, fake.control.advance(200_000)]);
          await Promise.race([ask(fake, 'GET', path), fake.control.advance(200_000)]);
        }
      });
      await Promise.all(asks);
      await fake.control.advance(3_600_000);
      await fake.control.settle();
      const byKey: Record<string, unknown[]> = {};
      for (const key of keys) {
        byKey[key] = [
          fake.requests
            .filter((one) => one.headers['idempotency-key'] === key || one.jobId === `job_${key}`)
            .map(({ route, answer, lost }) => [route, answer?.status, lost]),
          fake.deliveries
            .filter(({ jobId }) => jobId === `job_${key}`)
            .map(({ kind, event, state, attempts }) => {
              const outcomes = attempts.map(
                ({ answer, failure }) => answer?.status ?? failure?.reason,
              );
              return `${kind} ${event} ${state} ${outcomes.join()}`;
            })
            .sort((one, other) => one.localeCompare(other)),
          fake.control
            .truth()
            .get(`job_${key}`)
            ?.history.map(({ status }) => status),
        ];
      }
      await fake.dispose();
      return byKey;
    };
    const keys = ['a', 'b', 'c', 'd', 'e'];
    const first = await log(11, keys);
    expect(await log(11, keys)).toEqual(first);
    expect(await log(11, keys.toReversed())).toEqual(first);
    expect(await log(12, keys)).not.toEqual(first);
  });
});
