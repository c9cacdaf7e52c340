import { inject } from 'vitest';
import { Writable } from 'node:stream';
import { systemClock } from '../../../../src/clock.ts';
import { consoleOutput, type ProcessStream } from '../../../../sim/cli/console-output.ts';
import type { ExitCode } from '../../../../sim/cli/exit-code.ts';
import { runProgram } from '../../../../sim/cli/program.ts';
import { withPostgres } from '../../../../sim/cli/postgres.ts';
import { replayCommand } from '../../../../sim/cli/replay-command.ts';
import { sharedPglite } from '../../../setup/databases.ts';

export interface CliResult {
  /** Null where the command threw instead. */
  code: ExitCode | null;
  stdout: string;
  stderr: string;
  error: unknown;
}

/** Runs the command line in this process, on the PGlite or the PostgreSQL server that the tests share. */
export async function runCli(...args: string[]): Promise<CliResult> {
  const [stdout, stderr] = [new Collected(), new Collected()];
  let code: ExitCode | null = null;
  let error: unknown = null;
  try {
    await runProgram(args, {
      stdout: consoleOutput(stdout, {}),
      stderr: consoleOutput(stderr, {}),
      clock: systemClock,
      withDatabase: async (choice, work) =>
        choice.kind === 'pglite'
          ? work(await sharedPglite())
          : withPostgres(choice.url ?? inject('databaseUrl'), work),
      // As the command line says it in this repository.
      replayCommand: replayCommand(import.meta.url),
      finish: (finished) => {
        code = finished;
      },
    });
  } catch (thrown) {
    error = thrown;
  }
  return { code, stdout: stdout.text, stderr: stderr.text, error };
}

class Collected extends Writable implements ProcessStream {
  text = '';

  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    this.text += chunk.toString();
    done();
  }
}
