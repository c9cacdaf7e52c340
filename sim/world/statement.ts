import type { QueryResult } from '../../src/database.ts';

/**
 * What a statement does, in two or three words, for labels and the trace: `update sume_jobs`, `lock`. A label
 * made of them survives edits of the statement's details.
 */
export function describeStatement(sql: string): string {
  const text = sql.replace(/--.*$/gm, ' ').replace(/\s+/g, ' ').trim();
  if (/^select\b.*\bpg_(try_)?advisory/i.test(text)) return 'lock';
  const table =
    /^(insert) into ([\w."]+)/i.exec(text) ??
    /^(update) (?:only )?([\w."]+)/i.exec(text) ??
    /^(delete) from ([\w."]+)/i.exec(text) ??
    /^(select)\b.*?\bfrom ([\w."]+)/i.exec(text) ??
    /^(with)\b.*?\b(?:update|into|from) ([\w."]+)/i.exec(text);
  if (table !== null)
    return `${(table[1] ?? '').toLowerCase()} ${(table[2] ?? '').replaceAll('"', '')}`;
  return text.split(' ').slice(0, 2).join(' ').toLowerCase();
}

/** True for a statement that only reads. */
export function isRead(sql: string): boolean {
  return (
    /^\s*(select|show|set)\b/i.test(sql) &&
    !/\bfor (update|share|key share|no key update)\b/i.test(sql)
  );
}

/** False for a statement that names no table and takes no lock: settings of the session, a bare expression. */
export function readsTables(sql: string): boolean {
  return /\b(from|into|update|join|table|lock|pg_\w*lock\w*)\b/i.test(sql);
}

/** How many rows a statement wrote, or else gave, in words. */
export function countRows({ rows, affectedRows }: QueryResult<unknown>): string {
  const count = Math.max(rows.length, affectedRows ?? 0);
  return count === 1 ? '1 row' : `${count} rows`;
}

/** Why a statement failed: its SQLSTATE, where it has one, and the message. */
export function reasonOf(error: unknown): string {
  const code = (error as { code?: unknown } | null)?.code;
  const message = error instanceof Error ? error.message : String(error);
  return typeof code === 'string' ? `${code} ${message}` : message;
}
