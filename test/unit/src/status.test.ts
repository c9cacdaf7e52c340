import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isTerminal, rankOf, readStatusWord, statusWordOf } from '../../../src/status.ts';

describe('ranks', () => {
  test('queued, processing and the ends of a job rise in that order', () => {
    expect(rankOf('queued')).toBe(0);
    expect(rankOf('processing')).toBe(1);
    for (const status of ['completed', 'failed', 'canceled', 'expired'] as const) {
      expect(rankOf(status)).toBe(2);
      expect(isTerminal(status)).toBe(true);
    }
    expect(isTerminal('queued')).toBe(false);
    expect(isTerminal('processing')).toBe(false);
  });
});

describe('reading a status word', () => {
  const words: readonly [string, string][] = [
    ['queued', 'queued'],
    ['in_queue', 'queued'],
    ['processing', 'processing'],
    ['in_progress', 'processing'],
    ['running', 'processing'],
    ['completed', 'completed'],
    ['succeeded', 'completed'],
    ['success', 'completed'],
    ['failed', 'failed'],
    ['error', 'failed'],
    ['errored', 'failed'],
    ['canceled', 'canceled'],
    ['cancelled', 'canceled'],
    ['expired', 'expired'],
  ];
  test.each(words)('%s means %s, in any case', (word, status) => {
    expect(readStatusWord(word)).toBe(status);
    expect(readStatusWord(word.toUpperCase())).toBe(status);
    expect(readStatusWord(word[0]?.toUpperCase() + word.slice(1))).toBe(status);
  });

  test('any other word, and whatever is no word, means nothing', () => {
    const known = new Set(words.map(([word]) => word));
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string().filter((word) => !known.has(word.toLowerCase())),
          fc.constantFrom('toString', '__proto__', 'constructor', ' completed', 'completed '),
          fc.anything().filter((value) => typeof value !== 'string'),
        ),
        (value) => {
          expect(readStatusWord(value)).toBeNull();
        },
      ),
    );
  });
});

describe('finding the word in an answer', () => {
  test('sume_status is preferred to job.status, and that to status', () => {
    const job = { status: 'processing' };
    expect(statusWordOf({ sume_status: 'failed', job, status: 'COMPLETED' })).toBe('failed');
    expect(statusWordOf({ job, status: 'COMPLETED' })).toBe('processing');
    expect(statusWordOf({ job: null, status: 'COMPLETED' })).toBe('COMPLETED');
    expect(statusWordOf({ sume_status: 7, job: 'x', status: 'COMPLETED' })).toBe('COMPLETED');
    expect(statusWordOf({})).toBeNull();
  });

  test('a first word that is not known is not replaced by a coarser one', () => {
    expect(statusWordOf({ sume_status: 'archiving', status: 'COMPLETED' })).toBe('archiving');
  });
});
