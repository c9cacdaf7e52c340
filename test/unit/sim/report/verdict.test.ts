import { describe, expect, test } from 'vitest';
import { headline, verdict } from '../../../../sim/report/verdict.ts';
import { earlyWebhook } from './fixtures/early-webhook.ts';
import { stalePoll } from './fixtures/stale-poll.ts';

const options = { width: 100, replayCommand: (token: string) => `npx sume-sim replay ${token}` };

test('the first line names scenario, integration, seed and database', () => {
  expect(headline(stalePoll)).toBe(
    'stale-poll · integration naive-update · seed 14 · database pglite',
  );
});

test('a run without a seed says so instead of naming one', () => {
  expect(headline({ ...stalePoll, seed: null })).toContain('no seed');
});

test('a pass is one line', () => {
  expect(verdict(earlyWebhook, options)).toBe(
    '✓ pass: no invariant was violated in 18 steps, and all converged.',
  );
});

describe('a failure', () => {
  const lines = verdict(stalePoll, options).split('\n');

  test('names the invariant first, and ends with the command that replays it', () => {
    expect(lines[0]).toBe('✗ fail: rank-never-drops violated at step 11 of 11.');
    expect(lines.at(-1)).toBe(`npx sume-sim replay ${stalePoll.token}`);
  });

  test('tells what happened and why it matters', () => {
    expect(
      lines.some((line) => line.includes('What happened') && line.includes('job_a went')),
    ).toBe(true);
    expect(lines.some((line) => line.includes('Why it matters'))).toBe(true);
  });
});

test('a run that could not be judged gives its reason and the way back to it', () => {
  const error = { code: 'uncontrolled_await', message: 'The task web/1 used setTimeout.' };
  const lines = verdict({ ...earlyWebhook, verdict: 'error', error }, options).split('\n');
  expect(lines[0]).toContain('uncontrolled_await');
  expect(lines.join('\n')).toContain(error.message);
  expect(lines.at(-1)).toBe(`npx sume-sim replay ${earlyWebhook.token}`);
});
