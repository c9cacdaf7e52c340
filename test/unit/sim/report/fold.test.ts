import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { fold, isGap } from '../../../../sim/report/fold.ts';
import { anyRun } from './fixtures/any-run.ts';
import { buildRun, jobChange } from './fixtures/build.ts';

test('every step of any run is either shown or lies in exactly one gap of at least two', () => {
  fc.assert(
    fc.property(anyRun, fc.integer({ min: 0, max: 60 }), (run, whole) => {
      const covered: number[] = [];
      for (const item of fold(run, whole)) {
        if (!isGap(item)) {
          covered.push(item.index);
          continue;
        }
        expect(item.to).toBeGreaterThan(item.from);
        for (let index = item.from; index <= item.to; index += 1) covered.push(index);
      }
      expect(covered).toEqual(run.steps.map((step) => step.index));
    }),
  );
});

describe('a long trace', () => {
  const quiet = Array.from({ length: 100 }, () => ({
    actor: 'poller',
    kind: 'statement' as const,
    text: 'look',
  }));
  const sent = { actor: 'poller', kind: 'request' as const, to: 'Sume', label: 'ask', text: 'GET' };
  const stale = {
    actor: 'Sume',
    kind: 'answer' as const,
    to: 'poller',
    sentBy: 'ask',
    text: '200',
    label: 'stale',
  };
  const write = {
    actor: 'poller',
    kind: 'statement' as const,
    text: 'update',
    sentBy: 'stale',
    changes: [jobChange('job_a', 'completed', 'processing')],
  };
  const run = buildRun({}, [...quiet, sent, ...quiet, stale, ...quiet, write, ...quiet]);
  const shown = fold(run).filter((item) => !isGap(item));

  test('keeps a write together with the messages that led to it', () => {
    const texts = shown.map((step) => ('text' in step ? step.text : ''));
    expect(texts).toEqual([
      'look',
      'look',
      'look',
      'look',
      'GET',
      '200',
      'update',
      'look',
      'look',
      'look',
      'look',
    ]);
  });

  test('says who was busy in a gap', () => {
    const gaps = fold(run).filter(isGap);
    expect(gaps.map((gap) => gap.text)).toEqual([
      'steps 5–100 left out: poller 96; no row changed',
      'steps 102–201 left out: poller 100; no row changed',
      'steps 203–302 left out: poller 100; no row changed',
      'steps 304–399 left out: poller 96; no row changed',
    ]);
  });
});

describe('a run that passed', () => {
  test('keeps every change, fault and crash of a long trace', () => {
    fc.assert(
      fc.property(anyRun, (run) => {
        const passed = { ...run, violations: [] };
        const telling = passed.steps.filter(
          (step) => step.changes.length > 0 || step.fault !== null || step.kind === 'crash',
        );
        fc.pre(telling.length < 100);
        const shown = new Set(fold(passed, 30));
        for (const step of telling) expect(shown).toContain(step);
      }),
    );
  });
});

describe('a run that failed', () => {
  const about = (key: string) => [
    { actor: 'Sume', kind: 'event' as const, text: `${key} is completed`, task: `sume/${key}` },
    {
      actor: 'web',
      kind: 'statement' as const,
      text: 'update: 1 row',
      task: `web/${key}`,
      changes: [jobChange(key, 'queued', 'completed')],
    },
    { actor: 'web', kind: 'statement' as const, text: 'select: 1 row', task: `web/${key}` },
  ];
  const story = [...about('job_a'), ...about('job_b'), ...about('job_ab'), ...about('job_b')];
  const end = {
    actor: 'web',
    kind: 'statement' as const,
    text: 'update',
    task: 'web/job_b',
    changes: [jobChange('job_b', 'completed', 'queued')],
  };
  const after = Array.from({ length: 20 }, () => ({
    actor: 'sweeper',
    kind: 'statement' as const,
    text: 'look',
  }));
  const violations = [
    { invariant: 'rank-never-drops' as const, message: 'The row of job_b went back.', step: 13 },
  ];
  const run = buildRun({ verdict: 'fail', violations }, [...story, end, ...after]);

  test('shows little of what came after the violation', () => {
    const shown = fold(run);
    expect(shown.at(-2)).toBe(run.steps[13]);
    expect(shown.at(-1)).toMatchObject({ from: 15, to: 33 });
  });

  test('shows of a long trace the job that it is about, and no other', () => {
    const shown = fold(run, 5).flatMap((item) => (isGap(item) ? [] : [item.index]));
    // The first steps and those around the violation are there in any case.
    expect(shown).toEqual([1, 2, 3, 4, 5, 6, 10, 11, 12, 13, 14]);
  });
});
