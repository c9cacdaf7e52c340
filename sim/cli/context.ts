import type { Clock } from '../../src/clock.ts';
import type { SimulatorOptions } from '../world/simulator.ts';
import type { ConsoleOutput } from './console-output.ts';
import type { DatabaseChoice } from './database-options.ts';
import type { IntegrationFile } from '../report/vitest-test.ts';
import type { ExitCode } from './exit-code.ts';
import type { LoopEnd } from './loop-end.ts';

/** What a command gets from the process that it runs in. */
export interface Context {
  /** Results: the report, or one JSON object, or one diagram, and nothing else. */
  stdout: ConsoleOutput;
  /** Progress, and what went wrong. */
  stderr: ConsoleOutput;
  clock: Clock;
  /**
   * Opens the database that a command runs on, gives it to `work`, and closes it whatever happens: an open one
   * keeps the process alive. Loaded only here, so that wrong input is answered at once.
   */
  withDatabase: <T>(
    choice: DatabaseChoice,
    work: (database: SimulatorOptions['database']) => Promise<T>,
  ) => Promise<T>;
  /** The command that replays a token, as one would type it here. */
  replayCommand: (token: string) => string;
  /** The file that the system under test is from, where it is one's own. */
  integrationFile?: IntegrationFile;
  /** What can't be judged of the system under test, one sentence each, where it is one's own. */
  unchecked?: readonly string[];
  /**
   * How long code under test may run without giving control back. Then the process ends, with that finding; absent
   * where the process is not the command's to end.
   */
  loopLimitMs?: number;
  /** How the command ends in such a loop, where the system under test is one's own. */
  loopEnd?: LoopEnd;
  /** Set by the command that ran. */
  finish: (code: ExitCode) => void;
}
