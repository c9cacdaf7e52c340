import { protocol, types, type PGlite } from '@electric-sql/pglite';
import type { QueryResult } from '../../src/database.ts';

/** What the simulator needs of its database. */
export type SimulationDatabase = Pick<PGlite, 'execProtocolRawStream' | 'waitReady'>;

/**
 * The one session of a PGlite instance, spoken to in its wire protocol.
 *
 * `PGlite.query` makes five round trips a statement and plans it each time. A simulation runs the same two
 * dozen statements millions of times, so here each is prepared once and then costs one synchronous round
 * trip: a third of the time. What a statement does, and what it answers, is the same.
 */
export interface Session {
  /** Runs one statement. Throws the database's error. */
  run<Row extends object>(
    sql: string,
    params: readonly unknown[],
    onNotice: OnNotice,
  ): QueryResult<Row>;
  /** Runs statements without parameters. Returns the command tag of the last: `COMMIT`, `ROLLBACK`. */
  execute(sql: string, onNotice?: OnNotice): string;
  /** Makes unqualified names mean the tables of this schema. */
  enter(schema: string): void;
}

export type OnNotice = (message: string) => void;

interface Prepared {
  name: string;
  paramTypes: readonly number[];
  fields: readonly { name: string; dataTypeID: number }[];
}

type Message = ReturnType<typeof exchange>[number];

/** Beyond it statements are parsed each time: code that writes values into its SQL has no end of them. */
const MAX_PREPARED = 500;

const sessions = new WeakMap<SimulationDatabase, Session>();

/** The session of a database, which has only one. */
export function sessionOf(database: SimulationDatabase): Session {
  const known = sessions.get(database);
  if (known !== undefined) return known;
  const session = createSession(database);
  sessions.set(database, session);
  return session;
}

function createSession(database: SimulationDatabase): Session {
  const { serialize } = protocol;
  const prepared = new Map<string, Prepared>();
  let schema = '';

  const send = (parts: readonly Uint8Array[]): Message[] => exchange(database, join(parts));

  const prepare = (sql: string): Prepared => {
    // The same words mean other tables in another schema.
    const key = `${schema}\n${sql}`;
    const known = prepared.get(key);
    if (known !== undefined) return known;
    const name = prepared.size < MAX_PREPARED ? `sim${prepared.size}` : '';
    const answer = send([
      serialize.parse({ name, text: sql }),
      serialize.describe({ type: 'S', name }),
      serialize.sync(),
    ]);
    throwError(answer);
    const statement: Prepared = { name, paramTypes: [], fields: [] };
    for (const message of answer) {
      if ('dataTypeIDs' in message) statement.paramTypes = message.dataTypeIDs as number[];
      if (message.name === 'rowDescription')
        statement.fields = (message as unknown as Prepared).fields;
    }
    if (name !== '') prepared.set(key, statement);
    return statement;
  };

  return {
    run: <Row extends object>(sql: string, params: readonly unknown[], onNotice: OnNotice) => {
      const { name, paramTypes, fields } = prepare(sql);
      const answer = send([
        serialize.bind({
          statement: name,
          values: params.map((value, index) => toText(value, paramTypes[index])),
        }),
        serialize.execute({}),
        serialize.sync(),
      ]);
      tellNotices(answer, onNotice);
      throwError(answer);
      const rows: Row[] = [];
      let affectedRows = 0;
      for (const message of answer) {
        if (message.name === 'dataRow') {
          const values = (message as unknown as { fields: (string | null)[] }).fields;
          rows.push(
            Object.fromEntries(
              fields.map((field, index) => [
                field.name,
                types.parseType(values[index] ?? null, field.dataTypeID),
              ]),
            ) as Row,
          );
        } else if (message.name === 'commandComplete') {
          const { text } = message as unknown as { text: string };
          if (/^(INSERT|UPDATE|DELETE|MERGE)\b/.test(text))
            affectedRows = Number(text.split(' ').pop());
        }
      }
      return { rows, affectedRows };
    },

    execute: (sql, onNotice = () => {}) => {
      const answer = send([serialize.query(sql)]);
      tellNotices(answer, onNotice);
      throwError(answer);
      const last = answer.findLast(({ name }) => name === 'commandComplete');
      return last === undefined ? '' : (last as unknown as { text: string }).text;
    },

    enter: (wanted) => {
      if (wanted === schema) return;
      send([serialize.query(`set search_path to ${quoteIdentifier(wanted)}`)]);
      schema = wanted;
    },
  };
}

export function quoteIdentifier(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

/**
 * Sends messages and returns the answer. PGlite has answered whole by the time that this call returns: the
 * promise that it gives stands for its writing to a file system, which is not asked for. Its call that is
 * synchronous by type keeps a parsed copy of every answer for as long as it lives.
 */
function exchange(database: SimulationDatabase, bytes: Uint8Array): { name: string }[] {
  const messages: { name: string }[] = [];
  const parser = new protocol.Parser();
  // Not awaited, and not caught: what it throws here is the end of the database, and nobody's to handle.
  void database.execProtocolRawStream(bytes, {
    syncToFs: false,
    onRawData: (data) => {
      parser.parse(data, (message) => messages.push(message));
    },
  });
  if (messages.at(-1)?.name !== 'readyForQuery')
    throw new Error(
      'PGlite has not answered when it returned. Is this a version that is not known?',
    );
  return messages;
}

function tellNotices(answer: readonly Message[], onNotice: OnNotice): void {
  for (const message of answer) {
    if (message.name !== 'notice') continue;
    const text = (message as { message?: string }).message;
    if (text !== undefined) onNotice(text);
  }
}

function throwError(answer: readonly Message[]): void {
  const error = answer.find(({ name }) => name === 'error');
  // An Error already: the protocol's parser makes it one, with `code` and all the other fields.
  if (error !== undefined) throw error as unknown as Error;
}

function join(parts: readonly Uint8Array[]): Uint8Array {
  const all = new Uint8Array(parts.reduce((length, part) => length + part.length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}

function toText(value: unknown, type: number | undefined): string | null {
  if (value === null || value === undefined) return null;
  const serializer = type === undefined ? undefined : types.serializers[type];
  if (serializer !== undefined) return serializer(value);
  if (typeof value === 'string') return value;
  if (typeof value === 'number' || typeof value === 'boolean' || typeof value === 'bigint')
    return `${value}`;
  return JSON.stringify(value);
}
