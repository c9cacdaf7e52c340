import type { Step } from '../engine/trace.ts';

/** The verdict on one schedule, with everything that a report shows. */
export interface Run {
  scenario: string;
  integration: string;
  database: 'pglite' | 'postgres';
  /** Null for a run that no seed chose (a replay of a hand-made or shrunk schedule). */
  seed: number | null;
  verdict: 'pass' | 'fail' | 'error';
  violations: Violation[];
  /** Why nothing could be judged; only with the verdict `error`. */
  error?: { code: string; message: string };
  /** Set where the code under test never gave control back: the run ends there, as a violation of `converges`. */
  loop?: {
    /** The task whose code it is; null if no task's. */
    task: string | null;
    /** The function, file and line that ran, if they could be told. */
    where: string | null;
  };
  /** Lanes, in the order to draw them. */
  actors: string[];
  steps: Step[];
  /** Replays exactly this schedule. */
  token: string;
}

export interface Violation {
  invariant: InvariantName;
  /** One plain sentence: which job, what was seen, what should have been. */
  message: string;
  /** Index of the step after which it was seen. */
  step: number;
}

export type InvariantName =
  | 'rank-never-drops'
  | 'terminal-never-changes'
  | 'parked-never-replaced'
  | 'ack-is-durable'
  | 'parked-drains'
  | 'converges'
  | 'effect-once'
  | 'unsigned-is-inert'
  | 'result-only-when-ready'
  | 'genuine-is-accepted'
  | 'no-lost-job'
  | 'no-invention';
