import type { Database, Queryable } from '../../src/database.ts';
import type { Engine } from '../engine/engine.ts';
import type { Process } from '../engine/task.ts';
import type { Change } from '../engine/trace.ts';
import type { Integration } from './integration.ts';
import type { Pool } from './pool.ts';

/** Which kind of database schedules are played on. A token names it: the same order has other steps on the other. */
export type DatabaseKind = 'pglite' | 'postgres';

/** A database with room for any number of integrations, each with tables to itself. */
export interface StageDatabase {
  /** Makes the integration's tables, or finds them as an earlier call left them. */
  stage(integration: Integration): Promise<Stage>;
}

/** The tables of one integration, on which one schedule after another is played. */
export interface Stage {
  readonly database: DatabaseKind;
  /** Empties the tables. What comes back is for the one schedule that begins now. */
  open(parts: {
    engine: Engine;
    /** Whether a statement's parameter is the id of a job that Sume has issued. */
    isJob: (value: unknown) => boolean;
    /** Ids of the jobs that Sume has issued. */
    jobs: () => Iterable<string>;
  }): Promise<OpenStage>;
}

/** The database as one schedule sees it. */
export interface OpenStage {
  readonly port: Database;
  /** The same in the shape of node-postgres, for an integration that brings its own tables. */
  readonly pool?: Pool;
  /** Reads from a copy that may lag behind. */
  readonly replica: Queryable;
  /** Rolls back what the process had open, as the server does when a client is gone. */
  rollbackOf(process: Process): Promise<void>;
  /** Committed changes of watched rows since the last call. */
  takeChanges(): Change[] | Promise<Change[]>;
  /** Rolls back what a schedule that could not be judged left open. */
  close(): Promise<void>;
}
