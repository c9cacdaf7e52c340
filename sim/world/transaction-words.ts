/** Which statements open and end a transaction, whoever writes them by hand. */
export function transactionWord(sql: string): 'begin' | 'commit' | 'rollback' | null {
  const text = sql.trim().replace(/;\s*$/, '');
  if (/^(begin|start\s+transaction)\b/i.test(text)) return 'begin';
  if (/^(commit|end)\b/i.test(text)) return 'commit';
  if (/^(rollback|abort)\b(?!.*\bto\b)/i.test(text)) return 'rollback';
  return null;
}
