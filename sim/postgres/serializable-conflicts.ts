import type { Engine } from '../engine/engine.ts';

/** Every table: of a statement that may read or write others than it names. */
export const ANY_TABLE = '*';

/**
 * What the serializable level watches, as resources for the search that covers every order. PostgreSQL notes who read
 * what another wrote while both were open (an rw-conflict), and fails or dooms one of three transactions in a row. Two
 * steps can change places unless
 *
 * - the one reads and the other writes a table (`ssi:TABLE`; on tables as small as these a read locks all of it),
 * - the one is the end of a transaction and the other the snapshot of one (`ssi-end:T`): together they decide whether
 *   the two overlap, or
 * - both touch the conflicts of the same transaction (`ssi-of:T`): a statement looks whether it is doomed, a new
 *   conflict and an end write down what it is in.
 *
 * See README-SSI in PostgreSQL's sources, and predicate.c for who is doomed by whom.
 */
export interface SerializableConflicts {
  /** @param task whose transaction it is. */
  transaction(task: string): SerializableTransaction;
}

export interface SerializableTransaction {
  /** It takes its snapshot. What it touches before is not known here. */
  begins(): void;
  touches(table: string, how: 'read' | 'write'): void;
  /** Its end, whichever; only the first counts. */
  ends(isCommitted: boolean): void;
}

interface Watched {
  readonly resource: string;
  readonly tables: Record<'read' | 'write', Set<string>>;
  /** Those that it is in a conflict with. */
  readonly neighbours: Set<Watched>;
  readonly beganAt: number;
  /** When it committed; infinite while it is open. */
  committedAt: number;
}

export function createSerializableConflicts(engine: Pick<Engine, 'touch'>): SerializableConflicts {
  /** Those that are open or have committed: what was rolled back was never there. */
  const all = new Set<Watched>();
  const countOf = new Map<string, number>();
  let time = 0;

  const conflictsOf = (one: Watched, how: 'read' | 'write'): void =>
    engine.touch(one.resource, how);

  return {
    transaction: (task) => {
      const count = (countOf.get(task) ?? 0) + 1;
      countOf.set(task, count);
      const name = `${task} ${count}`;
      let own: Watched | null = null;
      return {
        begins: () => {
          time += 1;
          own = {
            resource: `ssi-of:${name}`,
            tables: { read: new Set(), write: new Set() },
            neighbours: new Set(),
            beganAt: time,
            committedAt: Number.POSITIVE_INFINITY,
          };
          all.add(own);
          engine.touch('ssi-end:*', 'read');
        },
        touches: (table, how) => {
          if (own === null) return;
          engine.touch(`ssi:${table}`, how);
          conflictsOf(own, 'read');
          own.tables[how].add(table);
          for (const other of all) {
            const overlaps = other.committedAt > own.beganAt && other !== own;
            if (!overlaps || !meets(other.tables[how === 'read' ? 'write' : 'read'], table)) {
              continue;
            }
            own.neighbours.add(other);
            other.neighbours.add(own);
            for (const one of [own, other]) {
              conflictsOf(one, 'write');
              for (const far of one.neighbours) conflictsOf(far, 'read');
            }
          }
        },
        ends: (isCommitted) => {
          if (own === null) return;
          engine.touch(`ssi-end:${name}`, 'write');
          for (const how of ['read', 'write'] as const) {
            for (const table of own.tables[how]) engine.touch(`ssi:${table}`, how);
          }
          conflictsOf(own, 'write');
          for (const one of own.neighbours) {
            conflictsOf(one, 'write');
            for (const far of one.neighbours) conflictsOf(far, 'read');
          }
          if (isCommitted) {
            time += 1;
            own.committedAt = time;
          } else {
            all.delete(own);
            for (const one of own.neighbours) one.neighbours.delete(own);
          }
          own = null;
        },
      };
    },
  };
}

function meets(tables: ReadonlySet<string>, table: string): boolean {
  return tables.has(table) || tables.has(ANY_TABLE) || (table === ANY_TABLE && tables.size > 0);
}
