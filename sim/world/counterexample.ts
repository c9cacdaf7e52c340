import type { Deviation } from '../engine/chooser.ts';
import type { Step } from '../engine/trace.ts';
import type { InvariantName, Run, Violation } from './run.ts';

/** A failure made as small as it gets, with what explains it. */
export interface Counterexample {
  /** What is violated in it, as it was in the run that it was made from. */
  invariant: InvariantName;
  /** The run up to the violation, which is its last step: what follows is no part of the story. */
  run: Run;
  /** The same as `run.steps`. */
  steps: readonly Step[];
  violation: Violation;
  /** Where it leaves run-to-completion, faults among it. Without any one of them it does not fail. */
  deviations: readonly Deviation[];
  /** What it does without, by name: see `Recipe`. */
  without: readonly string[];
  /** Replays it. */
  token: string;
  /** How many schedules were run to find and explain it. */
  schedules: number;
  /** False if its limit of schedules ended the search for something smaller. */
  complete: boolean;
  /** Null if no swap of two steps saves it: then faults alone make it fail, or nothing needs to. */
  race: Race | null;
}

/** Two steps whose order decides between failure and pass. */
export interface Race {
  /** The one that came first. */
  first: Step;
  /** The one that came second; it may come after the violation, too late to prevent it. */
  second: Step;
  /** What they race on: `row:job_a`, `sume:job_a`, `process:web`, `clock:web`, `time`. */
  on: string;
  /** The run with the second before the first, which passes. */
  swapped: Run;
}
