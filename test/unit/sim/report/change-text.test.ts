import { expect, test } from 'vitest';
import { changeText } from '../../../../sim/report/change-text.ts';
import { jobChange, parkedChange } from './fixtures/build.ts';

test.each([
  ['a new row', jobChange('job_a', null, 'queued'), 'job_a: + queued'],
  ['a status that moved', jobChange('job_a', 'queued', 'completed'), 'job_a: queued → completed'],
  ['an event parked', parkedChange('job_a', null, 'failed'), 'parked job_a: + failed'],
  ['a parked event drained', parkedChange('job_a', 'failed', null), 'parked job_a: − failed'],
])('%s reads %#', (_name, change, text) => {
  expect(changeText(change)).toBe(text);
});

test('a result that came later is told without its content', () => {
  const row = { status: 'completed', rank: 2, result: null };
  const after = { ...row, result: { artifacts: [{ url: 'https://cdn.example/a.mp4' }] } };
  expect(changeText({ table: 'jobs', key: 'job_a', before: row, after })).toBe(
    'job_a: result filled',
  );
});

test('a change of bookkeeping columns alone names them', () => {
  const before = { status: 'queued', checked_at: '0' };
  const change = {
    table: 'sume_jobs',
    key: 'job_a',
    before,
    after: { ...before, checked_at: '30' },
  };
  expect(changeText(change)).toBe('job_a: checked_at 0 → 30');
});

test('a write that left the row as it was says so', () => {
  expect(changeText(jobChange('job_a', 'queued', 'queued'))).toBe(
    'job_a: written again, nothing changed',
  );
});

test('an id with an escape sequence cannot reach the terminal', () => {
  expect(changeText(jobChange('\u001b[2Jx', null, 'queued'))).toBe('\\u{1b}[2Jx: + queued');
  expect(changeText(jobChange('a\r\n\tb', null, 'queued'))).toBe('a\\r\\n\\tb: + queued');
});
