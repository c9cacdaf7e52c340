import { expect, test } from 'vitest';
import { transactionWord } from '../../../../sim/world/transaction-words.ts';

test.each([
  ['begin', 'begin'],
  [' BEGIN isolation level serializable ;', 'begin'],
  ['start   transaction read only', 'begin'],
  ['commit', 'commit'],
  ['END;', 'commit'],
  ['rollback', 'rollback'],
  ['abort', 'rollback'],
  ['rollback to savepoint one', null],
  ['ROLLBACK TO "a"', null],
  ['savepoint one', null],
  ['select 1', null],
  ['beginning', null],
])('%j is %j', (sql, word) => {
  expect(transactionWord(sql)).toBe(word);
});
