import type { QueryResult } from '../../src/database.ts';
import type { Effect, FaultyCall } from '../engine/call.ts';
import type { Engine } from '../engine/engine.ts';
import type { Task } from '../engine/task.ts';
import type { Change, StepKind } from '../engine/trace.ts';
import { changesOf } from '../world/audit.ts';
import { InjectedDatabaseError } from '../world/one-connection.ts';
import { countRows, describeStatement, isRead, reasonOf } from '../world/statement.ts';
import {
  createFootprintOf,
  jobsNamed,
  mayLockRows,
  type FootprintOf,
  type TouchedBy,
} from './footprint-of.ts';
import type { SerializableConflicts } from './serializable-conflicts.ts';
import type { DefaultIsolation, Running } from './server-session.ts';
import type { Sessions, UsedSession } from './sessions.ts';

/** What all transactions of a schedule share. */
export interface TransactionParts {
  readonly engine: Engine;
  readonly sessions: Sessions;
  readonly isJob: (value: unknown) => boolean;
  readonly defaultIsolation: DefaultIsolation;
  /** Whether a statement may lock rows of tables that it does not name. */
  readonly tablesAreLinked: boolean;
  /** False where there are tables whose changes do not come through `onCommitted`. */
  readonly seesEveryWrite: boolean;
  readonly serializable: SerializableConflicts;
  /** Receives what a commit made visible. */
  readonly onCommitted: (changes: readonly Change[]) => void;
  /** Told when a transaction runs at serializable, which locks pages and not just rows. */
  readonly onSerializable: () => void;
}

/**
 * A transaction of one task, whose every statement is a step: BEGIN goes with the first, COMMIT is a step of its
 * own, and so is a ROLLBACK that lets locks go. A statement that has to wait is two steps, its beginning and its
 * going on, which becomes possible in the step that lets it on. The server does its part in that very step.
 */
export interface OpenTransaction {
  /** One statement. */
  statement<Row extends object>(sql: string, params: readonly unknown[]): Promise<QueryResult<Row>>;
  commit(): Promise<void>;
  /** Nothing to be seen where the server has rolled back already, after a statement that failed. */
  rollback(reason: unknown): Promise<void>;
}

/** Who waits for whom, as a resource: two steps that begin to wait may close a circle in one order or the other. */
const WAITS = 'waits';
const DEADLOCK = '40P01';

/** A statement that was begun: it has ended, or waits. */
type Begun<Row> =
  { result: QueryResult<Row> } | { open: UsedSession; running: Running; touched: TouchedBy };

/**
 * @param isolation the level that its BEGIN names, if it names one.
 * @param kind an autocommit statement is a transaction too, which ends with the statement where that wrote nothing.
 */
export function openTransaction(
  parts: TransactionParts,
  task: Task,
  kind: Extract<StepKind, 'statement' | 'transaction'>,
  isolation: string | null,
): OpenTransaction {
  const { engine, sessions } = parts;
  const isAutocommit = kind === 'statement';
  let level = asLevel(isolation) ?? parts.defaultIsolation;
  let used: UsedSession | null = null;
  let isBusy = false;
  const footprint: FootprintOf = createFootprintOf({
    engine,
    isJob: parts.isJob,
    level: () => level,
    tablesAreLinked: parts.tablesAreLinked,
    seesEveryWrite: parts.seesEveryWrite,
    serializable: parts.serializable.transaction(task.name),
  });
  /** What its statements changed so far. */
  const changes: Change[] = [];

  /** A session with an open transaction; the text says whether it was opened just now. */
  const begun = async (first: string): Promise<{ used: UsedSession; text: string }> => {
    if (used !== null) return { used, text: '' };
    const taken = await sessions.take(task);
    used = taken;
    if (isAutocommit && isRead(first)) return { used: taken, text: '' };
    const sql = isolation === null ? 'begin' : `begin isolation level ${isolation}`;
    await taken.session.execute(sql);
    if (level === 'serializable') parts.onSerializable();
    return { used: taken, text: isAutocommit ? '' : `${sql}; ` };
  };

  const end = (open: UsedSession, committed: readonly Change[] | null): void => {
    footprint.end(committed?.map(({ key }) => key) ?? null);
    used = null;
    sessions.giveBack(open);
  };

  /** COMMIT, and what follows from it for others. False when the server rolled back instead. */
  const commitNow = async (open: UsedSession): Promise<boolean> => {
    const tag = open.session.status === 'I' ? '' : await open.session.execute('commit');
    changes.push(...changesOf(open.session.takeNotices()));
    const isCommitted = tag !== 'ROLLBACK';
    end(open, isCommitted ? changes : null);
    if (isCommitted) parts.onCommitted(changes);
    await sessions.released();
    return isCommitted;
  };

  const rollbackNow = async (open: UsedSession): Promise<void> => {
    if (open.session.status !== 'I') await open.session.execute('rollback');
    open.session.takeNotices();
    end(open, null);
    await sessions.released();
  };

  /** What came of a statement that has ended, as the effect of the step under way. */
  const effectOf = async <Row extends object>(
    open: UsedSession,
    running: Running,
    touched: TouchedBy,
    name: string,
  ): Promise<Effect<QueryResult<Row>>> => {
    const { outcome } = running;
    if (outcome === null) throw new Error(`"${name}" has not ended.`);
    const changed = changesOf(open.session.takeNotices());
    if ('error' in outcome) {
      touched.locks();
      // Whether a circle closes, and who closes it, follows from all the waits there are.
      if ((outcome.error as { code?: unknown }).code === DEADLOCK) engine.touch(WAITS, 'write');
      const text = `${name} fails: ${reasonOf(outcome.error)}`;
      // A savepoint may still save the rest; where nothing can, the server has let the locks go.
      if (isAutocommit) await rollbackNow(open);
      else if (open.session.status !== 'T') footprint.end(null);
      await sessions.released();
      return { text, error: outcome.error };
    }
    const { value } = outcome;
    const hasLocked = touched.mayLock && ((value.affectedRows ?? 0) > 0 || value.rows.length > 0);
    if (hasLocked) touched.locks();
    changes.push(...changed);
    const text = `${name}: ${countRows(value)}`;
    // Nothing written and nothing locked: nobody can tell when it ends.
    if (isAutocommit && !hasLocked) await commitNow(open);
    return { text, value };
  };

  const enabled = (): boolean => !isBusy;

  return {
    statement: async <Row extends object>(sql: string, params: readonly unknown[]) => {
      const name = describeStatement(sql);
      const resource = `wait:${task.name} ${name}`;
      const jobs = jobsNamed(params, parts.isJob);
      const perform = async (): Promise<Effect<Begun<Row>>> => {
        const { used: open, text: beginning } = await begun(sql);
        const set = levelSetBy(sql);
        if (set !== null) level = set;
        if (set === 'serializable') parts.onSerializable();
        const touched = footprint.statement(sql, params);
        touched.looks();
        const running = engine.outside(() => open.session.start(sql, params));
        const wait = await sessions.run(open, running, null);
        if (wait === null) {
          const effect = await effectOf<Row>(open, running, touched, name);
          if ('error' in effect) return { ...effect, text: beginning + effect.text };
          return { text: beginning + effect.text, value: { result: effect.value } };
        }
        touched.locks();
        engine.touch(WAITS, 'write');
        isBusy = true;
        open.waiting = {
          running,
          wait,
          rowsOf: mayLockRows(sql) ? jobs : [],
          goesOn: () => {
            engine.touch(resource, 'write');
            touched.looks();
            touched.locks();
          },
        };
        return {
          text: `${beginning}${name}: waits for ${sessions.holders(wait)}`,
          value: { open, running, touched },
        };
      };
      const first = await engine.step<Begun<Row>>({
        name,
        kind,
        perform,
        enabled: () => !isBusy && (!mayLockRows(sql) || sessions.mayQueue(used, jobs)),
        ...(isAutocommit ? { faults: [breaksBefore(name)] } : {}),
      });
      if ('result' in first) return first.result;
      const { open, running, touched } = first;
      return engine.step<QueryResult<Row>>({
        name: `${name} goes on`,
        kind,
        enabled: () => open.waiting?.wait === null,
        perform: async () => {
          engine.touch(resource, 'read');
          open.waiting = null;
          isBusy = false;
          const effect = await effectOf<Row>(open, running, touched, name);
          return { ...effect, text: `${effect.text}, after its wait` };
        },
      });
    },

    commit: async () => {
      const open = used;
      if (open === null) return;
      const faults: FaultyCall<null>[] = [
        {
          fault: 'error-after-commit',
          perform: async () => {
            const committed = await commitNow(open);
            return broken(
              committed ? 'commits; then the connection breaks' : 'the connection breaks',
            );
          },
        },
      ];
      if (!isAutocommit) {
        faults.unshift({
          fault: 'error-before-commit',
          perform: async () => {
            await rollbackNow(open);
            return broken('the connection breaks before the commit');
          },
        });
      }
      await engine.step<null>({
        name: 'commit',
        kind,
        enabled,
        faults,
        perform: async () => {
          let committed;
          try {
            committed = await commitNow(open);
          } catch (error) {
            // A deferred constraint, or a serialization failure that shows only now.
            await rollbackNow(open);
            return { text: `commit fails: ${reasonOf(error)}`, error };
          }
          if (committed) return { text: 'commit', value: null };
          const message = 'The transaction had failed, and COMMIT rolled it back.';
          return {
            text: 'commit: rolled back, a statement had failed',
            error: Object.assign(new Error(message), { code: '25P02' }),
          };
        },
      });
    },

    rollback: async (reason) => {
      const open = used;
      if (open === null) return;
      if (open.session.status === 'E') {
        // The server has rolled back when the statement failed: this only says that it was heard.
        await engine.quiet.track(engine.outside(() => rollbackNow(open)));
        return;
      }
      await engine.step<null>({
        name: 'rollback',
        kind,
        enabled,
        perform: async () => {
          await rollbackNow(open);
          return { text: `rollback: ${reasonOf(reason)}`, value: null };
        },
      });
    },
  };
}

function breaksBefore(name: string): FaultyCall<never> {
  return {
    fault: 'error-before-commit',
    perform: () => broken(`${name}: the connection breaks, nothing is written`),
  };
}

function broken(text: string): Effect<never> {
  return { text, error: new InjectedDatabaseError('The connection to the database broke.') };
}

/** The level that a statement sets for the transaction it is in. */
function levelSetBy(sql: string): DefaultIsolation | null {
  return asLevel(/^\s*set\s+transaction\s+isolation\s+level\s+([a-z ]+)/i.exec(sql)?.[1] ?? null);
}

function asLevel(words: string | null): DefaultIsolation | null {
  if (words === null) return null;
  const text = words.trim().toLowerCase().replace(/\s+/g, ' ');
  if (text === 'serializable' || text === 'repeatable read') return text;
  return 'read committed';
}
