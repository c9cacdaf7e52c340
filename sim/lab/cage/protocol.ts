import type { WatchedTables } from '../../index.ts';

/** An error on its way between two threads. */
export interface CarriedError {
  name: string;
  message: string;
  code?: string;
}

/** A request or an answer on its way: what it says, apart from any object. */
export interface CarriedMessage {
  url: string;
  method: string;
  status: number;
  headers: [string, string][];
  body: string;
}

export type Outcome = { value: unknown } | { error: CarriedError };

/** What the simulator tells the cage. `now` is the clock of the process that the code plays. */
export type ToCage = { turn: number; now: number } & (
  | { does: 'setup'; id: number }
  | { does: 'start'; process: number; given: { sume: unknown; patience: unknown } }
  | { does: 'call'; id: number; process: number; handler: string; args: unknown[] }
  | { does: 'resume'; id: number; outcome: Outcome }
  | { does: 'transact'; id: number }
);

/** What the cage tells the simulator. */
export type FromCage =
  /** The code was read. */
  | { tells: 'ready'; tables: WatchedTables }
  /** Nothing moves in it any more, after that turn. */
  | { tells: 'quiet'; turn: number }
  | { tells: 'returned'; id: number; outcome: Outcome }
  | { tells: 'transacted'; id: number; outcome: Outcome }
  | { tells: 'asks'; id: number; process: number; port: string; args: unknown[] };
