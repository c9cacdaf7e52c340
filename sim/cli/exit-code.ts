import type { Run } from '../world/run.ts';

/** What the process ends with, so that a script need not read the output. */
export const exitCode = {
  pass: 0,
  violation: 1,
  usage: 2,
  /** Nothing could be judged: an uncontrolled await, drift, a failure of the tool itself. */
  error: 3,
  /** Ended by Ctrl-C: 128 and the signal's number, as shells do it. */
  interrupted: 130,
} as const;

export type ExitCode = (typeof exitCode)[keyof typeof exitCode];

/** The exit code of a verdict. */
export function exitCodeOf(verdict: Run['verdict']): ExitCode {
  if (verdict === 'pass') return exitCode.pass;
  return verdict === 'fail' ? exitCode.violation : exitCode.error;
}
