import type { Command, CommanderError } from 'commander';
import { visible } from '../report/visible.ts';
import { didYouMean } from './did-you-mean.ts';
import { UsageError } from './usage-error.ts';

/** What commander refused, in our own words: one line, what was given, and what would do. */
export function usageErrorOf(error: CommanderError, args: string[], program: Command): UsageError {
  const names = program.commands.map((command) => command.name());
  const first = args.find((arg) => !arg.startsWith('-'));
  const command = program.commands.find((candidate) => candidate.name() === first);
  return new UsageError(describe(error, command ?? program, names), { cause: error });
}

function describe(error: CommanderError, command: Command, names: string[]): string {
  const given = /'([^']*)'/.exec(error.message)?.[1] ?? '';
  const isCommand = names.includes(command.name());
  const help = `"sume-sim ${isCommand ? `${command.name()} ` : ''}--help" shows what there is`;
  if (error.code === 'commander.unknownCommand') {
    const advice = didYouMean(given, names) ?? `the commands are ${names.join(', ')}`;
    return `there is no command "${visible(given)}"; ${advice}`;
  }
  if (error.code === 'commander.unknownOption') {
    const options = command.options.map((option) => option.long ?? option.short ?? '');
    const where = isCommand ? ` for ${command.name()}` : '';
    return `there is no option "${visible(given)}"${where}; ${didYouMean(given, options) ?? help}`;
  }
  if (error.code === 'commander.excessArguments' && command.name() === 'replay') {
    return 'replay takes one token, and there is more than one word; was it cut by a line break? Join its parts';
  }
  const said = error.message
    .replace(/^error: /, '')
    .replace(/\.$/, '')
    .replaceAll("'", '"');
  return `${visible(said)}; ${help}`;
}
