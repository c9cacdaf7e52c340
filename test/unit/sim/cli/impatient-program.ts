import { systemClock } from '../../../../src/clock.ts';
import { consoleOutput } from '../../../../sim/cli/console-output.ts';
import { openPGlite } from '../../../../sim/cli/pglite.ts';
import { runProgram } from '../../../../sim/cli/program.ts';
import { replayCommand } from '../../../../sim/cli/replay-command.ts';

/** The command line as a process of its own, which takes a second without a turn for a loop. */
const stderr = consoleOutput(process.stderr, {});
await runProgram(process.argv.slice(2), {
  stdout: consoleOutput(process.stdout, {}),
  stderr,
  clock: systemClock,
  withDatabase: async (_choice, work) => {
    const database = await openPGlite(process.env, (line) => stderr.write(line));
    try {
      return await work(database);
    } finally {
      await database.close();
    }
  },
  replayCommand: replayCommand(import.meta.url),
  loopLimitMs: 1_000,
  finish: (code) => {
    process.exitCode = code;
  },
});
