import { describe, expect, test } from 'vitest';
import { readEvent, statusOfEvent } from '../../../src/event.ts';

describe('reading a verified body', () => {
  test('a completed job has its payload as result', () => {
    const body =
      '{"event":"job.completed","request_id":"job_1","job_id":"job_1","status":"OK","payload":{"artifacts":[{"url":"u"}]}}';
    expect(readEvent(body)).toEqual({
      kind: 'terminal',
      event: {
        event: 'job.completed',
        jobId: 'job_1',
        status: 'completed',
        body,
        result: { artifacts: [{ url: 'u' }] },
      },
    });
  });

  test.each([
    ['job.failed', 'failed'],
    ['job.canceled', 'canceled'],
  ] as const)('%s has its error, and no result even with a payload', (event, status) => {
    const body = JSON.stringify({
      event,
      job_id: 'job_1',
      status: 'ERROR',
      payload: { artifacts: [] },
      error: { code: 'c', message: 'm' },
    });
    expect(readEvent(body)).toEqual({
      kind: 'terminal',
      event: { event, jobId: 'job_1', status, body, error: { code: 'c', message: 'm' } },
    });
  });

  test('JSON that is valid but not canonical is the same event, and its text stays as it is', () => {
    const body = '\r\n{ "job_id" : "job\\u005f1" ,\t"event":"job\\u002ecompleted", "x": 1.0 }\n';
    expect(readEvent(body)).toEqual({
      kind: 'terminal',
      event: { event: 'job.completed', jobId: 'job_1', status: 'completed', body },
    });
  });

  test('a name that is not known is told apart, whatever else the body holds', () => {
    for (const name of ['job.paused', '', 'toString', '__proto__', 'JOB.COMPLETED']) {
      expect(readEvent(JSON.stringify({ event: name }))).toEqual({ kind: 'unknown', name });
      expect(statusOfEvent(name)).toBeNull();
    }
  });

  test.each([
    ['', 'not JSON'],
    ['{', 'not JSON'],
    ['\ufeff{}', 'not JSON'],
    ['null', 'not a JSON object'],
    ['"job.completed"', 'not a JSON object'],
    ['[{"event":"job.completed","job_id":"job_1"}]', 'not a JSON object'],
    ['{}', '"event" is absent'],
    ['{"event":7,"job_id":"job_1"}', '"event" is absent or not a string'],
    ['{"event":"job.completed"}', '"job_id" is absent'],
    ['{"event":"job.completed","request_id":"job_1"}', '"job_id" is absent'],
    ['{"event":"job.completed","job_id":7}', '"job_id" is absent or not a string'],
    ['{"event":"job.completed","job_id":""}', '"job_id" is empty'],
    ['{"event":"job.completed","job_id":"a\\u0000"}', '"job_id" holds a NUL'],
    [`{"event":"job.failed","job_id":"${'x'.repeat(201)}"}`, '"job_id" is longer'],
  ])('%s is malformed: %s', (body, reason) => {
    const reading = readEvent(body);
    expect(reading.kind).toBe('malformed');
    expect(reading).toMatchObject({ reason: expect.stringContaining(reason) as string });
  });
});
