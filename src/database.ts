/**
 * A Postgres database, typed by its shape, so that a PGlite instance is one as it stands and node-postgres
 * becomes one through `postgres.ts`.
 */
export interface Queryable {
  /** Runs one statement with `$1 …` parameters. `affectedRows` counts rows that it wrote. */
  query<Row extends object = Record<string, unknown>>(
    sql: string,
    params?: unknown[],
  ): Promise<QueryResult<Row>>;
}

export interface QueryResult<Row> {
  rows: Row[];
  affectedRows?: number;
}

export interface Database extends Queryable {
  /**
   * Runs `work` in one transaction on one connection: commits when it resolves, rolls back and rethrows
   * when it rejects. A database without `pinsIsolation` may ignore `options`; the core then sets the
   * level with a statement of its own, before any other.
   */
  transaction<T>(work: (tx: Queryable) => Promise<T>, options?: TransactionOptions): Promise<T>;
  /** Says that `transaction` honours `isolation` in its own BEGIN, whatever the session's default. */
  readonly pinsIsolation?: true;
}

export interface TransactionOptions {
  isolation?: Isolation;
}

/** The levels the core uses, as SQL spells them. */
export type Isolation = 'read committed' | 'serializable';
