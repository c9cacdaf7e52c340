import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { matchRoute } from '../../../../sim/fake-sume/route-table.ts';

describe('finding the route of a request', () => {
  it('takes a job id that holds anything, once it is percent-encoded', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', minLength: 1 }), (id) => {
        const path = `/jobs/${encodeURIComponent(id)}/status`;
        expect(matchRoute('GET', path)).toEqual({ kind: 'route', name: 'status', parameter: id });
      }),
    );
  });

  it.each(['sume/avatar-video/v1.0', 'upscale', 'a/b/c/d/e', 'jobs/runs/runs'])(
    'takes the model id %s with its slashes as they are, or encoded',
    (model) => {
      const expected = { kind: 'route', name: 'submit', parameter: model };
      expect(matchRoute('POST', `/models/${model}/runs`)).toEqual(expected);
      expect(matchRoute('POST', `/models/${encodeURIComponent(model)}/runs`)).toEqual(expected);
    },
  );

  it('says which method a known path takes', () => {
    expect(matchRoute('DELETE', '/jobs/job_1')).toEqual({
      kind: 'wrong-method',
      name: 'job',
      allow: 'GET',
    });
    expect(matchRoute('GET', '/jobs/job_1/cancel')).toMatchObject({ allow: 'POST' });
  });

  it.each([
    ['/job/job_1/status', 'GET /jobs/{job}/status'],
    ['/jobs/job_1/results', 'GET /jobs/{job}/result'],
    ['/jobs/job_1/cancle', 'POST /jobs/{job}/cancel'],
    ['/model/sume/avatar-video/v1.0/runs', 'POST /models/{model}/runs'],
    ['/models/sume/avatar-video/v1.0/run', 'POST /models/{model}/runs'],
    ['/models/runs', 'POST /models/{model}/runs'],
    ['/healthz', 'GET /health'],
    ['/jobs/', 'GET /jobs'],
    ['/jobs//status', 'GET /jobs/{job}/status'],
  ])('names the nearest route to %s', (path, nearest) => {
    expect(matchRoute('GET', path)).toEqual({ kind: 'unknown', nearest });
  });

  it('refuses a percent-escape that is no UTF-8', () => {
    expect(matchRoute('GET', '/jobs/%ff')).toEqual({ kind: 'malformed' });
    expect(matchRoute('GET', '/jobs/%')).toEqual({ kind: 'malformed' });
  });

  it('has an answer for every path', () => {
    fc.assert(
      fc.property(fc.webPath(), (path) => {
        expect(['route', 'wrong-method', 'unknown']).toContain(matchRoute('GET', path).kind);
      }),
    );
  });
});
