import type { Run } from './run.ts';

/** A schedule did not take the steps that it took before: the code under test is not deterministic. */
export class NondeterminismError extends Error {
  override readonly name = 'NondeterminismError';
  readonly code = 'nondeterminism';

  /** @param difference in a sentence: what came otherwise than before. */
  constructor(difference: string) {
    super(
      `${difference} The code under test decides by something that the simulator does not own: a clock, a random ` +
        'number, or what an earlier schedule left in memory. Take the time from ports.clock, draw no random ' +
        'numbers, and keep nothing in a variable outside start().',
    );
  }
}

/** Whether the run was given up because the code did otherwise than before: then no other run can be relied on. */
export function isNondeterministic({ error }: Pick<Run, 'error'>): boolean {
  return error?.code === 'nondeterminism';
}
