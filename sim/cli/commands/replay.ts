import type { Command } from 'commander';
import { decodeToken, TokenError, type Recipe } from '../../engine/token.ts';
import type { Context } from '../context.ts';
import { addDatabaseOptions, databaseChoice, type DatabaseOptions } from '../database-options.ts';
import { findNamed } from '../find-named.ts';
import { isIntegrationFile, nameOfFile } from '../load-integration.ts';
import { findSystem } from '../system.ts';
import { visible } from '../../report/visible.ts';
import { addReportOptions, type ReportOptions } from '../run-options.ts';
import { showRun } from '../show-run.ts';
import { UsageError } from '../usage-error.ts';
import { withSimulation } from '../with-simulation.ts';

/** `replay`: the schedule of a token, step by step as it was. */
export function addReplayCommand(program: Command, context: Context): void {
  const command = program
    .command('replay')
    .description('run the schedule of a token again')
    .argument('<token>', 'as a failing run printed it')
    .option(
      '--integration <name>',
      'must be the one in the token; the file, where it is one of your own',
    );
  addDatabaseOptions(command);
  addReportOptions(command);
  command
    .addHelpText(
      'after',
      `
The token holds scenario, integration, database, faults and order: the same code gives the same trace, on any
machine.

Exit codes: 0 pass, 1 an invariant was violated, 2 wrong usage, 3 could not be judged, or the code has changed
since and no longer takes these steps.`,
    )
    .action(
      async (
        token: string,
        options: ReportOptions & DatabaseOptions & { integration?: string },
      ) => {
        const recipe = readToken(token);
        const { scenarios } = await import('../../world/scenarios.ts');
        const named = integrationOf(recipe, options.integration);
        const choice = databaseChoice(options, recipe.database);
        const scenario = findNamed('scenario', scenarios, recipe.scenario);
        const system = await findSystem(named, choice, context, options);
        await withSimulation(system.context, choice, async (database, createSimulator) => {
          const simulator = await createSimulator({ ...system.options, scenario, database });
          const run = await simulator.replay(token);
          await showRun(await simulator.confirm(run), options, system.context);
        });
      },
    );
}

/** What `--integration` says, or else the token. A token has a file's name, and not where it is. */
function integrationOf({ integration }: Recipe, given: string | undefined): string {
  const isOwn = isIntegrationFile(integration);
  if (given === undefined) {
    if (!isOwn) return integration;
    throw new UsageError(
      `the token is of an integration in a file "${visible(integration)}"; add --integration and the path to it`,
    );
  }
  const name = isIntegrationFile(given) ? nameOfFile(given) : given;
  if (name === integration) return given;
  throw new UsageError(
    `the token is of the integration "${visible(integration)}", not "${visible(name)}"; ` +
      (isOwn ? 'name its file' : 'leave --integration out'),
  );
}

function readToken(token: string): Recipe {
  try {
    return decodeToken(token);
  } catch (error) {
    if (error instanceof TokenError) throw new UsageError(error.message, { cause: error });
    throw error;
  }
}
