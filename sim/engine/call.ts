import type { FootprintRecorder } from './footprint.ts';
import type { StepKind } from './trace.ts';
import type { Task } from './task.ts';

/** What a port asks the engine to do when the scheduler says so. Nothing happens before that. */
export interface Call<T> {
  /** What the step is called within its task: `→ Sume`, `update jobs`. */
  name: string;
  kind: StepKind;
  /** For a message: the lane it arrives in. */
  to?: string;
  /** For a message: the label of the step that sent it. */
  sentBy?: string | null;
  /** Does it. The promise settles when the effect is complete; the task goes on only afterwards. */
  perform: () => Effect<T> | Promise<Effect<T>>;
  /** What the adversary may do instead. */
  faults?: readonly FaultyCall<T>[];
  /** False while the step can't be taken, such as while another transaction holds the only connection. */
  enabled?: () => boolean;
  /** For a timer: how long after now it is due, in virtual milliseconds. */
  afterMs?: number;
  /** For a timer that guards something in flight. See `Engine.options`. */
  guard?: boolean;
  /** Takes the pending step away when it aborts; the call then rejects with the signal's reason. */
  signal?: AbortSignal | null;
}

export interface FaultyCall<T> {
  /** Name of the fault: `drop-answer`. */
  fault: string;
  perform: () => Effect<T> | Promise<Effect<T>>;
}

/** What came of a step: words for the trace, and what the waiting task gets. */
export type Effect<T> = { text: string } & ({ value: T } | { error: unknown });

/** A step that a task waits for. */
export interface PendingStep {
  readonly label: string;
  readonly task: Task;
  readonly call: Call<unknown>;
  readonly settle: (effect: Effect<unknown>) => void;
  /** For a timer: the virtual time, in milliseconds, that taking it moves to. */
  readonly dueMs?: number;
  /** What the step touched during which it was asked for. */
  readonly askedIn: FootprintRecorder;
  /**
   * Index of the step during which it was asked for, 1 for the first; 0 if before any, −1 for what only the
   * adversary does.
   */
  readonly since: number;
}

/** One thing that can happen next: a pending step as it should be, or with one fault in it. */
export interface Option {
  /** Unique in its run and stable across runs. */
  readonly label: string;
  readonly pending: PendingStep;
  readonly fault: string | null;
  readonly perform: () => Effect<unknown> | Promise<Effect<unknown>>;
}
