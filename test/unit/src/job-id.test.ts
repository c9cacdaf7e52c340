import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { InputError } from '../../../src/errors.ts';
import { assertJobId, jobIdFault, MAX_JOB_ID_LENGTH } from '../../../src/job-id.ts';

describe('what can be a job id', () => {
  test('any text of 1 to 200 characters that a text column can hold exactly', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', minLength: 1, maxLength: 40 }), (id) => {
        fc.pre(!id.includes('\0'));
        expect(jobIdFault(id)).toBeNull();
      }),
    );
  });

  test('200 characters are counted, not code units', () => {
    expect(jobIdFault('😀'.repeat(MAX_JOB_ID_LENGTH))).toBeNull();
    expect(jobIdFault('😀'.repeat(MAX_JOB_ID_LENGTH + 1))).toContain('longer than 200');
    expect(jobIdFault('x'.repeat(MAX_JOB_ID_LENGTH))).toBeNull();
    expect(jobIdFault('x'.repeat(MAX_JOB_ID_LENGTH + 1))).toContain('longer than 200');
  });

  test.each([
    [undefined, 'not a string'],
    [17, 'not a string'],
    ['', 'empty'],
    ['a\0b', 'NUL'],
    ['\ud800', 'surrogate'],
    ['a\udc00', 'surrogate'],
  ])('%j cannot be one', (value, reason) => {
    expect(jobIdFault(value)).toContain(reason);
    expect(() => assertJobId(value)).toThrow(InputError);
  });
});
