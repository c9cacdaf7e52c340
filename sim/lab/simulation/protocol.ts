import type { Run, WatchedTables } from '../../index.ts';

/** What the page asks of the worker. Each ask has a number, which its answer bears. */
export type Ask = { id: number } & Wish;

export type Wish =
  | { kind: 'open'; dumpUrl: string; build: string }
  | { kind: 'run'; choice: Choice }
  | { kind: 'replay'; token: string; instead?: string }
  | { kind: 'order'; token: string; labels: string[] }
  | { kind: 'shrink'; token: string }
  | { kind: 'explore'; choice: Choice; maxSchedules: number }
  | { kind: 'check'; choice: Choice; cage: MessagePort }
  | { kind: 'forget'; integration: string }
  | { kind: 'query'; token: string; sql: string }
  | { kind: 'cancel'; of: number };

/** Which schedule to draw. */
export interface Choice {
  scenario: string;
  integration: string;
  seed: number;
  faults: number;
}

/** What comes back for each kind of wish. */
export interface Answers {
  open: null;
  run: Run;
  replay: Run;
  order: Run;
  shrink: Run;
  explore: Explored;
  check: Checked;
  forget: null;
  query: QueryTable[];
  cancel: null;
}

/** What came of pasted code: the first schedule that fails, or the last that was tried. */
export interface Checked {
  run: Run;
  tables: WatchedTables;
  /** How many schedules were tried. */
  schedules: number;
}

/** A search that has ended. */
export interface Explored {
  complete: boolean;
  schedules: number;
  orders: number | null;
  faultSets: number;
  failures: Failure[];
}

/** A failing schedule, as short as a list needs it. */
export interface Failure {
  token: string;
  steps: number;
  /** The step that violated, 0 where nothing could be judged. */
  at: number;
  text: string;
}

/** One statement's answer. */
export interface QueryTable {
  columns: string[];
  rows: string[][];
  affected: number;
}

/** What the worker tells the page. */
export type Told =
  | { id: number; value: Answers[keyof Answers] }
  | { id: number; error: Refusal }
  | { id: number; progress: Progress };

/** Why something could not be done. */
export interface Refusal {
  code: string;
  message: string;
  /** The integration whose cage was given up. */
  cage?: string;
}

export type Progress =
  | { of: 'open'; text: string; done: number }
  | {
      of: 'explore';
      schedules: number;
      faultSets: number;
      faultSetsLeft: number;
      failures: Failure[];
    };
