import { describe, expect, test } from 'vitest';
import { isRefusedData, isRetryable, sqlStateOf } from '../../../src/sqlstate.ts';

const withCode = (code: unknown, cause?: unknown): Error =>
  Object.assign(new Error('the text is in the language of the server', { cause }), { code });

describe('telling errors apart by SQLSTATE', () => {
  test('it is found on the error, and under what an ORM wrapped around it', () => {
    expect(sqlStateOf(withCode('40001'))).toBe('40001');
    expect(sqlStateOf(new Error('wrapped', { cause: withCode('40P01') }))).toBe('40P01');
    expect(sqlStateOf(withCode('P2034', withCode('40001')))).toBe('P2034');
  });

  test.each(['EPIPE', 'ECONNRESET', 'sume_api', 40001, undefined, ''])('%j is none', (code) => {
    expect(sqlStateOf(withCode(code))).toBeNull();
  });

  test('an error that is its own cause, or no error at all, has none', () => {
    const own = new Error('own');
    own.cause = own;
    expect(sqlStateOf(own)).toBeNull();
    expect(sqlStateOf('40001')).toBeNull();
    expect(sqlStateOf(null)).toBeNull();
  });

  test('lost races may run again; refused data may not', () => {
    expect(['40001', '40P01', '55P03', '23505'].map((code) => isRetryable(withCode(code)))).toEqual(
      [true, true, false, false],
    );
    expect(
      ['22P02', '22P05', '54001', '40001'].map((code) => isRefusedData(withCode(code))),
    ).toEqual([true, true, true, false]);
  });
});
