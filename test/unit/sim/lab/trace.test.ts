import { describe, expect, test } from 'vitest';
import { rowsAt } from '../../../../sim/lab/trace/rows-at.ts';
import { sameMoment } from '../../../../sim/lab/trace/same-moment.ts';
import { sumeSays } from '../../../../sim/lab/trace/sume-says.ts';
import { buildRun, jobChange, parkedChange } from '../report/fixtures/build.ts';

const tables = { jobs: 'sume_jobs', parked: 'sume_parked', effects: 'effects' };
const effect = { table: 'effects', key: 'job_a', before: null, after: { job_id: 'job_a' } };

const run = buildRun({}, [
  { actor: 'submit', kind: 'request', to: 'Sume', label: 'submit/a →', text: 'POST run' },
  { actor: 'Sume', kind: 'event', text: 'job_a is completed' },
  {
    actor: 'web',
    kind: 'transaction',
    text: 'park',
    changes: [parkedChange('job_a', null, 'completed')],
  },
  { actor: 'submit', kind: 'answer', sentBy: 'submit/a →', text: '202 job_a queued' },
  {
    actor: 'submit',
    kind: 'transaction',
    text: 'register',
    changes: [
      jobChange('job_a', null, 'queued'),
      parkedChange('job_a', 'completed', null),
      jobChange('job_a', 'queued', 'completed'),
      effect,
    ],
  },
  { actor: 'sweeper', kind: 'statement', text: 'update sume_jobs: 0 rows' },
]);

describe('the rows after a step', () => {
  test('are those that all steps up to it left', () => {
    expect(rowsAt(run, tables, 2)).toEqual({ jobs: [], parked: [], effects: [] });
    const { jobs, parked, effects } = rowsAt(run, tables, 6);
    expect(jobs).toEqual([{ key: 'job_a', row: jobChange('job_a', null, 'completed').after }]);
    expect(parked).toEqual([]);
    expect(effects).toEqual([{ key: 'job_a', count: 1, now: 0 }]);
  });

  test('tell what this very step changed, from what was there before all of its changes', () => {
    const { jobs, parked, effects } = rowsAt(run, tables, 5);
    expect(jobs).toMatchObject([{ before: null, row: { status: 'completed' } }]);
    expect(parked).toMatchObject([{ before: { status: 'completed' }, row: null }]);
    expect(effects).toEqual([{ key: 'job_a', count: 1, now: 1 }]);
  });
});

test('Sume says of a job what it has done with it by then, from when it accepted it', () => {
  expect([...sumeSays(run, 0)]).toEqual([]);
  expect([...sumeSays(run, 1)]).toEqual([['job_a', 'queued']]);
  expect([...sumeSays(run, 2)]).toEqual([['job_a', 'completed']]);
});

describe('the same moment of another run', () => {
  const shorter = { ...run, steps: run.steps.filter(({ index }) => index !== 3) };
  const renumbered = {
    ...shorter,
    steps: shorter.steps.map((step, at) => ({ ...step, index: at + 1 })),
  };

  test('is behind everything that both have taken', () => {
    expect(sameMoment(run, 2, renumbered)).toBe(2);
    expect(sameMoment(run, 3, renumbered)).toBe(2);
    expect(sameMoment(run, 4, renumbered)).toBe(3);
  });

  test('is the end at the end', () => {
    expect(sameMoment(run, run.steps.length, renumbered)).toBe(5);
    expect(sameMoment(run, 0, renumbered)).toBe(0);
  });
});
