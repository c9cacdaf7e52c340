import type { Change } from '../engine/trace.ts';

/**
 * Every change of a watched row reaches the checker through a trigger's NOTICE, which costs less than reading the
 * rows again after each step. A NOTICE survives a rollback, so changes count only from the commit on.
 */
const MARK = 'sume-sim audit ';

/** Creates the trigger function in the current schema, and the triggers on the tables. */
export function auditSql(tables: readonly string[]): string {
  return [
    `create or replace function sume_sim_audit() returns trigger language plpgsql as $audit$
     begin
       raise notice '${MARK}%', json_build_array(tg_table_name, to_json(old), to_json(new));
       return null;
     end $audit$;`,
    ...tables.map(
      (table) =>
        `create or replace trigger sume_sim_audit after insert or update or delete on ${table}
         for each row execute function sume_sim_audit();`,
    ),
  ].join('\n');
}

/** What the notices of one statement tell: the rows that are not as they were before. */
export function changesOf(notices: readonly string[]): Change[] {
  return notices
    .filter((message) => message.startsWith(MARK))
    .map((message) => toChange(message.slice(MARK.length)))
    .filter((change) => !isEmpty(change))
    .sort(byRow);
}

function toChange(json: string): Change {
  const [table, before, after] = JSON.parse(json) as [string, Change['before'], Change['after']];
  return { table, key: String((after ?? before)?.['job_id']), before, after };
}

/**
 * A statement writes its rows in the order in which they lie on the page, and that depends on what earlier
 * schedules left there. Each row is written once, so the order says nothing.
 */
function byRow(one: Change, other: Change): number {
  if (one.table !== other.table) return one.table < other.table ? -1 : 1;
  return one.key < other.key ? -1 : 1;
}

function isEmpty({ before, after }: Change): boolean {
  return JSON.stringify(before) === JSON.stringify(after);
}
