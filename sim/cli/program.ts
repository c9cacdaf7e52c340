import { createRequire } from 'node:module';
import { Command, CommanderError } from 'commander';
import { addExploreCommand } from './commands/explore.ts';
import { addFuzzCommand } from './commands/fuzz.ts';
import { addLabCommand } from './commands/lab.ts';
import { addListCommand } from './commands/list.ts';
import { addReplayCommand } from './commands/replay.ts';
import { addRunCommand } from './commands/run.ts';
import { addServeCommand } from './commands/serve.ts';
import type { Context } from './context.ts';
import { usageErrorOf } from './usage-error-of.ts';

/**
 * Runs the command that `args` name.
 *
 * @throws {UsageError} for wrong input, one line in which what was given is named and what would do.
 */
export async function runProgram(args: string[], context: Context): Promise<void> {
  const help: string[] = [];
  const program = new Command('sume-sim')
    .description('Runs integrations of Sume through the orders of events that break them.')
    .version(version())
    .exitOverride()
    .configureOutput({
      writeOut: (text) => help.push(text),
      // What goes wrong is told in one line of our own, below.
      writeErr: () => {},
      getOutHelpWidth: () => context.stdout.width,
      getOutHasColors: () => context.stdout.colour,
    })
    .showSuggestionAfterError(false)
    .addHelpText(
      'after',
      `
Examples:
  sume-sim list
  sume-sim run early-webhook
  sume-sim fuzz stale-poll --integration naive-update --runs 200
  sume-sim explore early-webhook --faults 1
  sume-sim replay TOKEN
  sume-sim serve --faults chaos
  sume-sim lab`,
    );
  addListCommand(program, context);
  addRunCommand(program, context);
  addFuzzCommand(program, context);
  addExploreCommand(program, context);
  addReplayCommand(program, context);
  addServeCommand(program, context);
  addLabCommand(program, context);
  try {
    if (args.length === 0) program.outputHelp();
    else await program.parseAsync(args, { from: 'user' });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (error.exitCode !== 0) throw usageErrorOf(error, args, program);
  }
  if (help.length > 0) await context.stdout.write(help.join('').trimEnd());
}

function version(): string {
  // The manifest is two folders up from sim/cli and three from dist/sim/cli.
  const require = createRequire(import.meta.url);
  const path = import.meta.url.endsWith('.ts') ? '../../package.json' : '../../../package.json';
  return (require(path) as { version: string }).version;
}
