import fc from 'fast-check';
import stringWidth from 'string-width';
import { describe, expect, test } from 'vitest';
import { changeText } from '../../../../sim/report/change-text.ts';
import { columns } from '../../../../sim/report/columns.ts';
import type { Run } from '../../../../sim/world/run.ts';
import { anyRun } from './fixtures/any-run.ts';
import { earlyWebhook } from './fixtures/early-webhook.ts';
import { stalePoll } from './fixtures/stale-poll.ts';

/** The lines that begin with a step's number, by that number. */
function stepLines(text: string): Map<number, { line: string; at: number }> {
  const found = new Map<number, { line: string; at: number }>();
  for (const [at, line] of text.split('\n').entries()) {
    const number = /^[✗ ] +(\d+) /.exec(line)?.[1];
    if (number !== undefined) found.set(Number(number), { line, at });
  }
  return found;
}

describe('any run', () => {
  test('shows every step once and in order when asked for the whole trace', () => {
    fc.assert(
      fc.property(anyRun, (run) => {
        const lines = stepLines(columns(run, { width: 100, full: true }));
        expect([...lines.keys()]).toEqual(run.steps.map((step) => step.index));
      }),
    );
  });

  test('keeps to the width of the terminal', () => {
    fc.assert(
      fc.property(anyRun, fc.integer({ min: 80, max: 220 }), (run, width) => {
        for (const line of columns(run, { width }).split('\n')) {
          expect(stringWidth(line)).toBeLessThanOrEqual(width);
        }
      }),
    );
  });

  test('lets no control character through to the terminal', () => {
    fc.assert(
      fc.property(anyRun, (run) => {
        expect(columns(run, { width: 100, full: true })).not.toMatch(/[^\P{C}\n]/u);
      }),
    );
  });

  test('reads the same with and without colours', () => {
    const marked = (run: Run): string =>
      columns(run, { width: 100, palette: (_style, text) => `<<${text}>>` });
    fc.assert(
      fc.property(anyRun, (run) => {
        fc.pre(!JSON.stringify(run).includes('<<') && !JSON.stringify(run).includes('>>'));
        expect(marked(run).replaceAll(/<<|>>/g, '')).toBe(columns(run, { width: 100 }));
      }),
    );
  });

  test('shows every step that violated an invariant, however long the trace', () => {
    fc.assert(
      fc.property(anyRun, (run) => {
        const lines = stepLines(columns(run, { width: 100 }));
        for (const { step } of run.violations) expect(lines.get(step)?.line).toMatch(/^✗/);
      }),
    );
  });
});

describe.each([70, 80, 100, 120, 160])('at %i cells', (width) => {
  test('a row change stands beside its step or right below it', () => {
    for (const run of [stalePoll, earlyWebhook]) {
      const text = columns(run, { width });
      const all = text.split('\n');
      const lines = stepLines(text);
      for (const step of run.steps) {
        const from = lines.get(step.index)?.at ?? -1;
        const to = lines.get(step.index + 1)?.at ?? all.length;
        const words = all.slice(from, to).join(' ').replaceAll(/[│└]/g, ' ').split(/\s+/);
        for (const change of step.changes) {
          for (const word of changeText(change).split(' ')) expect(words).toContain(word);
        }
      }
    }
  });

  test('the violated invariant stands right below the step that violated it', () => {
    const text = columns(stalePoll, { width });
    const at = stepLines(text).get(11)?.at ?? -1;
    const below = text.split('\n').slice(at);
    expect(below[0]).toMatch(/^✗ 11 /);
    expect(
      below.findIndex((line) => line.includes('✗ rank-never-drops: job_a went')),
    ).toBeGreaterThan(0);
  });

  test('a message that others overtook says when it left, and its sender where it arrives', () => {
    const lines = stepLines(columns(stalePoll, { width }));
    expect(lines.get(5)?.line ?? '').toContain(width < 80 ? '' : '⇢ 10');
    const text = columns(stalePoll, { width });
    expect(text).toMatch(/⇢ 10/);
    expect(text).toMatch(/200 processing \(left at 5\)/);
  });

  test('virtual time is shown when it moves, and only then', () => {
    const lines = [...stepLines(columns(earlyWebhook, { width })).values()];
    const times = lines.flatMap(({ line }) => /^[✗ ] +\d+ +([\d,]+ s) /.exec(line)?.[1] ?? []);
    expect(times).toEqual(['0 s', '30 s', '630 s']);
  });
});

test('actors without a step in the trace get no column', () => {
  const [header] = columns(stalePoll, { width: 100 }).split('\n');
  expect(header?.split(/\s+/).filter((word) => stalePoll.actors.includes(word))).toEqual([
    'submit',
    'web',
    'poller',
    'Sume',
  ]);
});

test('faults and crashes carry a symbol and their name', () => {
  const lines = stepLines(columns(earlyWebhook, { width: 120 }));
  expect(lines.get(7)?.line).toContain('↯ drop-acknowledgement: 202 parked');
  expect(lines.get(8)?.line).toContain('✖ submit process crashes');
});

test('a message that never arrived ends in a cross', () => {
  const lines = stepLines(columns(earlyWebhook, { width: 120 }));
  expect(lines.get(7)?.line).toMatch(/parked ─+╳│/);
});

test('an answer that names only its question comes from where that had gone', () => {
  const run = structuredClone(stalePoll);
  for (const step of run.steps.filter(({ kind }) => kind === 'answer')) {
    step.actor = step.to ?? '';
    delete step.to;
  }
  expect(columns(run, { width: 100 })).toBe(columns(stalePoll, { width: 100 }));
});
