import type { Change } from '../engine/trace.ts';
import { visible } from './visible.ts';

/** Columns that follow from others: showing them beside a status would say everything twice. */
const DERIVED = new Set(['rank', 'body', 'created_at', 'updated_at', 'terminal_at', 'checked_at']);

const VALUE_LIMIT = 32;

/**
 * A row's change in one short line, the row first: `job_a: queued → completed`, `job_a: + queued` for a new
 * row, `parked job_a: − completed` for one that went. Rows of other tables than the jobs' are introduced by
 * their table's name. A change of nothing but derived columns (times, rank) names these columns.
 */
export function changeText(change: Change): string {
  const table = change.table.replace(/^.*?(?=[a-z]+$)/, '');
  const row = visible(table === 'jobs' ? change.key : `${table} ${change.key}`);
  if (change.before === null) return `${row}: + ${summary(change.after ?? {})}`.trimEnd();
  if (change.after === null) return `${row}: − ${summary(change.before)}`.trimEnd();
  return `${row}: ${difference(change.before, change.after)}`;
}

function summary(row: Record<string, unknown>): string {
  if (row['status'] !== undefined && row['status'] !== null) return value(row['status']);
  const shown = Object.entries(row).filter(([name, cell]) => !DERIVED.has(name) && cell !== null);
  return shown.map(([name, cell]) => `${name} ${value(cell)}`).join(', ');
}

function difference(before: Record<string, unknown>, after: Record<string, unknown>): string {
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  const changed = names.filter((name) => text(before[name]) !== text(after[name]));
  const telling = changed.filter((name) => !DERIVED.has(name));
  const parts = (telling.length > 0 ? telling : changed).map((name) => {
    if (name === 'status') return `${value(before[name])} → ${value(after[name])}`;
    if (before[name] === null || before[name] === undefined) return `${visible(name)} filled`;
    if (after[name] === null || after[name] === undefined) return `${visible(name)} emptied`;
    return `${visible(name)} ${value(before[name])} → ${value(after[name])}`;
  });
  // The status first: it is what the race is about.
  const status = telling.indexOf('status');
  if (status > 0) parts.unshift(...parts.splice(status, 1));
  return parts.length === 0 ? 'written again, nothing changed' : parts.join(', ');
}

function value(cell: unknown): string {
  const shown = visible(text(cell));
  return shown.length > VALUE_LIMIT ? `${shown.slice(0, VALUE_LIMIT - 1)}…` : shown;
}

function text(cell: unknown): string {
  if (typeof cell === 'string') return cell;
  return JSON.stringify(cell) ?? 'null';
}
