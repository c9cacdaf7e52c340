import type { Counterexample } from '../world/counterexample.ts';
import type { Run } from '../world/run.ts';

/** An invariant was violated. The message is the explained counterexample: columns, race, and how to have it again. */
export class InvariantViolatedError extends Error {
  override readonly name = 'InvariantViolatedError';
  readonly code = 'invariant_violated';
  /** The failing run, as small as it gets. */
  readonly counterexample: Counterexample;
  /** Replays it: `checkIntegration(integration, { replay: token })`. */
  readonly token: string;

  constructor(message: string, counterexample: Counterexample) {
    super(message);
    this.counterexample = counterexample;
    this.token = counterexample.token;
  }
}

/** A schedule could not be judged: the code waited for something outside the ports, or decides by chance. */
export class NotJudgedError extends Error {
  override readonly name = 'NotJudgedError';
  readonly code = 'not_judged';
  /** The schedule; its `error` has the reason and its code. */
  readonly run: Run;

  constructor(message: string, run: Run) {
    super(message);
    this.run = run;
  }
}

/** What was asked for can't be done: an unknown scenario, a number of runs below one. */
export class CheckOptionError extends RangeError {
  override readonly name = 'CheckOptionError';
  readonly code = 'check_option';
}
