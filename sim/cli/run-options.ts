import { Option, type Command } from 'commander';
import { MAX_SEED } from '../engine/random.ts';
import { wholeNumber } from './whole-number.ts';

/** Options that every command which shows a run has. */
export interface ReportOptions {
  json?: true;
  mermaid?: true;
  full?: true;
}

/** Options of the commands that choose what is run. */
export interface RunOptions extends ReportOptions {
  integration?: string;
  faults?: number;
  seed?: number;
}

const MOST_FAULTS = 1000;

export const DEFAULT_INTEGRATION = 'guarded';

export const INTEGRATION_TEXT: string = `the system under test (default: ${DEFAULT_INTEGRATION}), or a file that exports one of your own`;

/** `--json`, `--mermaid` and `--full`, of which one excludes the others. */
export function addReportOptions(command: Command): Command {
  return command
    .addOption(
      new Option('--json', 'one JSON object on stdout, and nothing else there').conflicts([
        'mermaid',
        'full',
      ]),
    )
    .addOption(
      new Option('--mermaid', 'a sequence diagram to paste into an issue').conflicts('full'),
    )
    .addOption(new Option('--full', 'every step of a long trace, where otherwise it is folded'));
}

/** What is run: the integration, the seed and the faults. */
export function addRunOptions(command: Command, seedText: string): Command {
  return command
    .addOption(new Option('--integration <name>', INTEGRATION_TEXT))
    .addOption(new Option('--seed <n>', seedText).argParser(wholeNumber('--seed', 0, MAX_SEED)))
    .addOption(
      new Option(
        '--faults <n>',
        'the most faults in one schedule (default: per scenario)',
      ).argParser(wholeNumber('--faults', 0, MOST_FAULTS)),
    );
}
