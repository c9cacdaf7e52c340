import type { Command } from 'commander';
import type { Run } from '../../world/run.ts';
import type { Scenario } from '../../world/scenarios.ts';
import type { Simulator } from '../../world/simulator.ts';
import type { Context } from '../context.ts';
import {
  addDatabaseOptions,
  databaseChoice,
  refuseUnfit,
  type DatabaseOptions,
} from '../database-options.ts';
import { findNamed } from '../find-named.ts';
import { findSystem } from '../system.ts';
import {
  addReportOptions,
  addRunOptions,
  DEFAULT_INTEGRATION,
  type RunOptions,
} from '../run-options.ts';
import { showRun } from '../show-run.ts';
import { withSimulation } from '../with-simulation.ts';

const DEFAULT_SCENARIO = 'early-webhook';

/** Without a seed, so many are tried for one whose schedule holds the scenario's race. */
const SEEDS_TRIED = 200;

/** `run`: one schedule of one scenario, drawn and judged. */
export function addRunCommand(program: Command, context: Context): void {
  const command = program
    .command('run')
    .description('run one schedule and show it')
    .argument('[scenario]', `what happens (default: ${DEFAULT_SCENARIO}; "list" shows all)`);
  addRunOptions(command, 'the schedule (default: the first from 1 on that holds the race)');
  addDatabaseOptions(command);
  addReportOptions(command);
  command
    .addHelpText(
      'after',
      `
Examples:
  sume-sim run early-webhook
  sume-sim run stale-poll --integration naive-update --seed 3
  sume-sim run lost-answer --mermaid >> issue.md
  sume-sim run everything --faults 0 --json
  sume-sim run open-transaction --database postgres --integration look-without-rank

Exit codes: 0 pass, 1 an invariant was violated, 2 wrong usage, 3 could not be judged.`,
    )
    .action(async (name: string | undefined, options: RunOptions & DatabaseOptions) => {
      const { scenarios } = await import('../../world/scenarios.ts');
      const scenario = findNamed('scenario', scenarios, name ?? DEFAULT_SCENARIO);
      const choice = databaseChoice(options);
      refuseUnfit(scenario, choice);
      const system = await findSystem(
        options.integration ?? DEFAULT_INTEGRATION,
        choice,
        context,
        options,
      );
      await withSimulation(system.context, choice, async (database, createSimulator) => {
        const faults = options.faults === undefined ? {} : { faults: options.faults };
        const simulator = await createSimulator({
          ...system.options,
          scenario,
          database,
          ...faults,
        });
        if (options.seed !== undefined) {
          const run = await simulator.run({ seed: options.seed });
          await showRun(await simulator.confirm(run), options, system.context);
          return;
        }
        const { run, remark } = await firstRace(
          simulator,
          scenario,
          system.options.integration.caughtBy !== undefined,
        );
        await showRun(await simulator.confirm(run), options, system.context, { headline: remark });
      });
    });
}

/**
 * The first seed whose schedule holds the race, or else the first seed. For an integration that is broken on
 * purpose the race alone is not the point: there it is the first seed that shows its mistake, if one does.
 */
async function firstRace(
  simulator: Simulator,
  scenario: Scenario,
  isBroken: boolean,
): Promise<{ run: Run; remark: string }> {
  let first: Run | null = null;
  let race: Run | null = null;
  for (let seed = 1; seed <= SEEDS_TRIED; seed += 1) {
    const run = await simulator.run({ seed });
    if (run.verdict === 'error') return { run, remark: `seed ${seed} could not be judged` };
    if (isBroken && run.verdict === 'fail') {
      return { run, remark: 'the first seed that shows the mistake' };
    }
    if (race === null && scenario.race(run)) race = run;
    if (race !== null && !isBroken) break;
    first ??= run;
  }
  if (race !== null) return { run: race, remark: 'the first seed that holds the race' };
  if (first === null) throw new Error('No schedule was run.');
  return { run: first, remark: `none of the seeds 1 to ${SEEDS_TRIED} holds the race` };
}
