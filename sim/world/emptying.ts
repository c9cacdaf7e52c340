import type { Session } from './session.ts';

/**
 * PGlite has neither a checkpointer nor autovacuum: the log of writes and the pages of deleted rows, all of them
 * in memory, would grow for as long as it is used: by 6.5 kB with every schedule of `everything`.
 */
const SCHEDULES_A_CHECKPOINT = 500;

/**
 * Empties these tables before a schedule, whatever the order that their foreign keys ask for.
 *
 * @param tables their names, as SQL.
 * @param more SQL that belongs to it, such as sequences set back.
 */
export function createEmptying(
  session: Session,
  tables: readonly string[],
  more: readonly string[] = [],
): () => void {
  // Deleting a few rows takes 0.1 ms, TRUNCATE ten times as long.
  const deletes = tables.map((table) => `delete from ${table};`);
  const truncate = tables.length === 0 ? [] : [`truncate ${tables.join(', ')};`];
  // Foreign keys and triggers would ask for an order, and triggers would write.
  const script = (emptied: readonly string[]): string =>
    [
      `set session_replication_role = replica;`,
      ...emptied,
      ...more,
      `set session_replication_role = origin;`,
    ].join('\n');
  const [empty, emptyAnew] = [script(deletes), script(truncate)];
  let schedules = 0;
  return () => {
    schedules += 1;
    if (schedules % SCHEDULES_A_CHECKPOINT !== 0) {
      session.execute(empty);
      return;
    }
    session.execute(emptyAnew);
    session.execute('checkpoint');
  };
}
