import { expect, test } from 'vitest';
import { layOut } from '../../../../sim/lab/timeline/geometry.ts';
import { picture } from '../../../../sim/lab/timeline/picture.ts';
import { buildRun, jobChange } from '../report/fixtures/build.ts';

const measure = (text: string, isBold: boolean): number => text.length * (isBold ? 8 : 7);

const run = buildRun(
  {
    verdict: 'fail',
    violations: [{ invariant: 'rank-never-drops', message: 'It went back, you see.', step: 6 }],
  },
  [
    {
      actor: 'poller',
      task: 'poll',
      kind: 'request',
      to: 'Sume',
      label: 'poll →',
      text: 'GET <status>',
    },
    { actor: 'Sume', kind: 'event', text: 'job_a is completed' },
    { actor: 'web', kind: 'transaction', text: 'a transaction '.repeat(12), changes: [] },
    { actor: 'poller', task: 'poll', kind: 'answer', sentBy: 'poll →', text: '200 queued' },
    {
      actor: 'poller',
      task: 'poll',
      kind: 'request',
      to: 'Sume',
      text: 'GET',
      fault: 'drop-request',
    },
    {
      actor: 'poller',
      kind: 'statement',
      text: 'update',
      timeMs: 30_000,
      changes: [jobChange('job_a', 'completed', 'queued')],
    },
  ],
);

test.each([390, 800, 1600])('at %i pixels nothing lies over anything else', (width) => {
  const { rows, lanes, textX, height } = layOut(run, width, measure);
  for (const [index, row] of rows.entries()) {
    const below = rows[index + 1]?.y ?? height;
    expect(row.y + row.height).toBeLessThanOrEqual(below);
    for (const { text, kind } of row.lines) {
      const end = textX + measure(text, kind === 'change' || kind === 'violation');
      expect(end).toBeLessThanOrEqual(width);
    }
  }
  expect(lanes.every(({ x }) => x < textX)).toBe(true);
  expect(lanes.map(({ name }) => name)).toEqual(['Sume', 'web', 'poller', 'database']);
});

test('a message leaves at the height of the step that sent it, and arrives at its own', () => {
  const { rows } = layOut(run, 800, measure);
  const [asked, , , answer, lost] = rows;
  expect(answer?.arrow).toMatchObject({ y1: asked?.markY, y2: answer?.markY, late: true });
  // What a task asks next leaves when it got the last answer.
  expect(lost?.arrow).toMatchObject({ y1: answer?.markY, lost: true });
});

test('time is told where it has moved', () => {
  const { rows } = layOut(run, 800, measure);
  expect(rows.map(({ time }) => time)).toEqual(['0 s', null, null, null, null, '30 s']);
});

test('the picture holds every step and its violations, and nothing that is markup', () => {
  const text = picture(layOut(run, 800, measure), run);
  expect(text).toContain('GET &lt;status>');
  expect(text).toContain('✗ It went back, you see.');
});
