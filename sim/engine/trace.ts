/** What happened in one schedule, step by step. Nothing here holds wall time, so equal runs are equal bytes. */
export interface Step {
  /** 1 for the first. */
  index: number;
  /** Stable name of the step, unique in its trace: `poll/1 → Sume`, `submit/job_a insert #2`. */
  label: string;
  /** The activity that the step belongs to: `poll/1`. */
  task: string;
  /** The lane that a diagram draws the step in. */
  actor: string;
  /** For a message: the lane that it arrives in. */
  to?: string;
  /** For a message: the label of the step that sent it, where there is one. */
  sentBy?: string;
  kind: StepKind;
  /** In words: what was sent, asked or done, and what came of it. */
  text: string;
  /** Virtual time in milliseconds since the schedule began, after the step. */
  timeMs: number;
  /** The fault that the adversary put into this step, or null. */
  fault: string | null;
  /** `safety`: faults may happen. `liveness`: they have stopped, and all must converge. */
  phase: 'safety' | 'liveness';
  /** Committed changes that the step made, in the order made. */
  changes: Change[];
}

export type StepKind =
  | 'request' // a request arrives at the other side
  | 'answer' // the answer arrives back
  | 'delivery' // a webhook arrives at the web process
  | 'acknowledgement' // its answer arrives back
  | 'statement' // one autocommit SQL statement
  | 'transaction' // a whole transaction, or one statement of it on a real server
  | 'timer' // virtual time moves to a timer's due time
  | 'event' // the world moves by itself: a job ends, a replica catches up
  | 'crash' // a process ends and starts again
  | 'start'; // a task begins or begins again

/** One row's change: `before` null is an insert, `after` null a delete. */
export interface Change {
  table: string;
  key: string;
  before: Record<string, unknown> | null;
  after: Record<string, unknown> | null;
}
