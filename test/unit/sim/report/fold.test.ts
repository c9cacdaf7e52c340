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
