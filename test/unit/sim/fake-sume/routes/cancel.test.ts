import { describe, expect, it } from 'vitest';
import { createFakeSume } from '../../../../../sim/fake-sume/index.ts';
import { ask, submitJob } from '../ask.ts';
import { createReceiver } from '../receiver.ts';

describe('canceling a job', () => {
  it('ends it and pushes job.canceled', async () => {
    const receiver = createReceiver();
    const fake = createFakeSume({ secrets: ['whsec'], send: receiver.send });
    const jobId = await submitJob(fake);
    const asked = await ask(fake, 'POST', `/jobs/${jobId}/cancel`);
    expect(asked.status).toBe(200);
    expect(asked.json.data).toEqual({
      request_id: jobId,
      job_id: jobId,
      status: 'CANCELED',
      canceled: true,
      status_url: `https://api.sume.com/v1/jobs/${jobId}/status`,
      result_url: `https://api.sume.com/v1/jobs/${jobId}/result`,
    });
    await fake.control.settle();
    expect(receiver.received.map(({ body }) => JSON.parse(body) as unknown)).toMatchObject([
      { event: 'job.canceled', job_id: jobId, status: 'ERROR', error: { code: 'job_canceled' } },
    ]);
  });

  it.each(['complete', 'fail', 'cancel', 'expire'] as const)(
    'after %s changes nothing and says so',
    async (verb) => {
      const fake = createFakeSume({ secrets: ['whsec'], send: createReceiver().send });
      const jobId = await submitJob(fake);
      await fake.control[verb](jobId);
      const before = fake.control.truth().get(jobId);
      const asked = await ask(fake, 'POST', `/jobs/${jobId}/cancel`);
      expect(asked.status).toBe(200);
      expect(asked.json.data).toMatchObject({ canceled: false });
      expect(asked.json.data?.['status']).toBe(before?.status.toUpperCase());
      const after = fake.control.truth().get(jobId);
      expect(after).toEqual({ ...before, reported: after?.reported });
    },
  );

  it('wins or loses against a completion, and only the winner is pushed', async () => {
    const receiver = createReceiver();
    const fake = createFakeSume({ secrets: ['whsec'], send: receiver.send });
    const jobId = await submitJob(fake);
    const canceling = ask(fake, 'POST', `/jobs/${jobId}/cancel`);
    // The cancel is on its way; the completion happens first.
    expect(await fake.control.complete(jobId)).toBe('changed');
    expect((await canceling).json.data).toMatchObject({ canceled: false, status: 'COMPLETED' });
    expect(await fake.control.cancel(jobId)).toBe('unchanged');
    await fake.control.settle();
    expect(receiver.received.map(({ attempt }) => attempt.event)).toEqual(['job.completed']);
  });
});
