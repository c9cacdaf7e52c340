/** An option of the fake cannot work. */
export class BadOptionError extends Error {
  readonly code = 'bad_option';
  override readonly name = 'BadOptionError';
}

/** A control call asked for something that makes no sense as things stand. */
export class BadControlError extends Error {
  readonly code = 'bad_control';
  override readonly name = 'BadControlError';
}

/** A control call named a job that this fake never issued. */
export class UnknownJobError extends Error {
  readonly code = 'unknown_job';
  override readonly name = 'UnknownJobError';

  constructor(jobId: string) {
    super(
      `There is no job ${JSON.stringify(jobId)} in this fake Sume: give the request_id of a submit, ` +
        'or make a job with control.create(), or POST /__sim/jobs.',
    );
  }
}

/** `settle()` stopped waiting: what is left cannot happen by itself, or takes too long. */
export class StillWaitingError extends Error {
  readonly code = 'still_waiting';
  override readonly name = 'StillWaitingError';
  /** One sentence for each thing that is waited for. */
  readonly waitingFor: readonly string[];

  constructor(waitingFor: readonly string[]) {
    super(`The fake Sume has not settled:\n${waitingFor.map((one) => `- ${one}`).join('\n')}`);
    this.waitingFor = waitingFor;
  }
}
