import { protocol, types, type PGlite } from '@electric-sql/pglite';
import type { QueryResult } from '../../src/database.ts';
import { DatabaseClosedError } from './database-closed-error.ts';
import { toPostgresText } from './postgres-text.ts';

/** What the simulator needs of its database. */
export type SimulationDatabase = Pick<PGlite, 'closed' | 'execProtocolRawStream' | 'waitReady'>;

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
  /** Runs one statement with its parameters in PostgreSQL's text form, and gives values in theirs. */
  send(sql: string, texts: readonly (string | null)[], onNotice: OnNotice): RawResult;
  /** Runs statements without parameters, as one script, and gives what the last one gave. */
  sendScript(sql: string, onNotice: OnNotice): RawResult;
  /** Runs statements without parameters. Returns the command tag of the last: `COMMIT`, `ROLLBACK`. */
  execute(sql: string, onNotice?: OnNotice): string;
  /** Makes unqualified names mean the tables of this schema. */
  enter(schema: string): void;
}

export type OnNotice = (message: string) => void;

/** An answer as the server wrote it. */
export interface RawResult {
  fields: readonly RawField[];
  rows: (string | null)[][];
  /** How many rows it wrote. */
  affectedRows: number;
  /** `INSERT 0 1`, `COMMIT`. */
  tag: string;
}

export interface RawField {
  name: string;
  dataTypeID: number;
}

interface Prepared {
  name: string;
  paramTypes: readonly number[];
  fields: readonly RawField[];
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

  const ask = (
    sql: string,
    textsOf: (paramTypes: readonly number[]) => readonly (string | null)[],
    onNotice: OnNotice,
  ): RawResult => {
    const { name, paramTypes, fields } = prepare(sql);
    const answer = send([
      serialize.bind({ statement: name, values: [...textsOf(paramTypes)] }),
      serialize.execute({}),
      serialize.sync(),
    ]);
    tellNotices(answer, onNotice);
    throwError(answer);
    return readAnswer(answer, fields);
  };

  const session: Session = {
    run: <Row extends object>(sql: string, params: readonly unknown[], onNotice: OnNotice) => {
      const textsOf = (paramTypes: readonly number[]): (string | null)[] =>
        params.map((value, index) => toText(value, paramTypes[index]));
      const result = ask(sql, textsOf, onNotice);
      return { rows: parsedRows<Row>(result), affectedRows: result.affectedRows };
    },

    send: (sql, texts, onNotice) => ask(sql, () => texts, onNotice),

    sendScript: (sql, onNotice) => {
      const answer = send([serialize.query(sql)]);
      tellNotices(answer, onNotice);
      throwError(answer);
      const begins = answer.findLastIndex(({ name }) => name === 'rowDescription');
      const ended = answer.findLastIndex(({ name }) => name === 'commandComplete');
      const before = answer.slice(0, ended).findLastIndex(({ name }) => name === 'commandComplete');
      // Rows that an earlier statement gave are not the last one's.
      if (begins < before) return readAnswer(answer.slice(before + 1), []);
      return readAnswer(
        answer.slice(before + 1),
        (answer[begins] as unknown as Prepared | undefined)?.fields ?? [],
      );
    },

    execute: (sql, onNotice = () => {}) => session.sendScript(sql, onNotice).tag,

    enter: (wanted) => {
      if (wanted === schema) return;
      send([serialize.query(`set search_path to ${quoteIdentifier(wanted)}`)]);
      schema = wanted;
    },
  };
  return session;
}

/** Rows with their values as PGlite reads them. */
export function parsedRows<Row extends object>({ fields, rows }: RawResult): Row[] {
  return rows.map(
    (values) =>
      Object.fromEntries(
        fields.map(({ name, dataTypeID }, index) => [
          name,
          parsed(values[index] ?? null, dataTypeID),
        ]),
      ) as Row,
  );
}

function parsed(text: string | null, type: number): unknown {
  const element = ELEMENT_OF[type];
  if (text === null || element === undefined) return types.parseType(text, type);
  return types.arrayParser(text, (item) => types.parseType(item, element), type);
}

/** The built-in types of arrays, by the catalogue's numbers, and of what. An array of another type stays text. */
const ELEMENT_OF: Readonly<Record<number, number>> = {
  199: types.JSON,
  1000: types.BOOL,
  1005: types.INT2,
  1007: types.INT4,
  1009: types.TEXT,
  1015: types.VARCHAR,
  1016: types.INT8,
  1021: types.FLOAT4,
  1022: types.FLOAT8,
  1115: types.TIMESTAMP,
  1182: types.DATE,
  1185: types.TIMESTAMPTZ,
  1231: types.NUMERIC,
  2951: types.UUID,
  3807: types.JSONB,
};

function readAnswer(answer: readonly Message[], fields: readonly RawField[]): RawResult {
  const rows: (string | null)[][] = [];
  let tag = '';
  for (const message of answer) {
    if (message.name === 'dataRow') {
      rows.push((message as unknown as { fields: (string | null)[] }).fields);
    } else if (message.name === 'commandComplete') {
      tag = (message as unknown as { text: string }).text;
    }
  }
  const wrote = /^(INSERT|UPDATE|DELETE|MERGE)\b/.test(tag);
  return { fields, rows, affectedRows: wrote ? Number(tag.split(' ').pop()) : 0, tag };
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
  if (database.closed) throw new DatabaseClosedError();
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
  // What PGlite has no word for, arrays among it, is written as node-postgres writes it.
  return serializer === undefined ? toPostgresText(value) : serializer(value);
}
