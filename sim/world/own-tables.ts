import { createEmptying } from './emptying.ts';
import { quoteIdentifier, type Session } from './session.ts';

interface Relation {
  oid: number;
  schema: string;
  name: string;
  kind: 'table' | 'sequence';
  start: string | null;
}

/** What an integration made in `setup`, and how a schedule finds it: without rows, and with sequences at their start. */
export interface OwnTables {
  /** Names of the tables in `schema`. */
  readonly names: readonly string[];
  empty(): void;
}

/** Lets `setup` make its tables, and tells them by what was not there before. */
export async function makeOwnTables(
  session: Session,
  schema: string,
  setup: () => Promise<void>,
): Promise<OwnTables> {
  const before = new Set(relations(session).map(({ oid }) => oid));
  await setup();
  const made = relations(session).filter(({ oid }) => !before.has(oid));
  const tables = made.filter(({ kind }) => kind === 'table');
  const sequences = made.filter(({ kind }) => kind === 'sequence');
  return {
    names: tables
      .filter((table) => table.schema === schema)
      .map(({ name }) => quoteIdentifier(name)),
    empty: createEmptying(
      session,
      tables.map(qualified),
      sequences.map(
        (one) => `select setval(${quoteLiteral(qualified(one))}, ${one.start ?? 1}, false);`,
      ),
    ),
  };
}

function relations(session: Session): Relation[] {
  return session.run<Relation>(
    `select c.oid, n.nspname as schema, c.relname as name, s.seqstart::text as start,
            case c.relkind when 'S' then 'sequence' else 'table' end as kind
     from pg_class c
       join pg_namespace n on n.oid = c.relnamespace
       left join pg_sequence s on s.seqrelid = c.oid
     where c.relkind in ('r', 'p', 'S')
       and n.nspname not in ('pg_catalog', 'pg_toast', 'information_schema')
     order by n.nspname, c.relname`,
    [],
    () => {},
  ).rows;
}

function qualified({ schema, name }: Relation): string {
  return `${quoteIdentifier(schema)}.${quoteIdentifier(name)}`;
}

function quoteLiteral(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}
