import { expect, test } from 'vitest';
import { systemClock } from '../../../../src/clock.ts';
import type { ConsoleOutput } from '../../../../sim/cli/console-output.ts';
import { showSmallest } from '../../../../sim/cli/show-smallest.ts';
import { failureText } from '../../../../sim/testing/failure-text.ts';
import type { Simulator } from '../../../../sim/world/simulator.ts';
import { firstFailure, simulatorOf } from '../world/shipped.ts';

/** What is printed of a failing run that a limit kept from getting smaller. */
async function shown(simulator: Simulator, options: { json?: true }): Promise<string> {
  let text = '';
  const output: ConsoleOutput = {
    write: async (piece) => void (text += piece),
    width: 100,
    isTerminal: false,
    colour: false,
  };
  const limited: Simulator = {
    ...simulator,
    shrink: (run) => simulator.shrink(run, { maxSchedules: 1 }),
  };
  await showSmallest(
    limited,
    await firstFailure(simulator),
    options,
    {
      stdout: output,
      stderr: output,
      clock: systemClock,
      withDatabase: () => Promise.reject(new Error('No database is opened here.')),
      replayCommand: (token) => token,
      finish: () => {},
    },
    {},
  );
  return text;
}

test('a counterexample that is not the smallest is said to be none', async () => {
  const simulator = await simulatorOf('stale-poll', 'naive-update');
  expect(await shown(simulator, {})).toMatch(/not the smallest: stopped after \d+ schedules/);
  expect(JSON.parse(await shown(simulator, { json: true }))).toMatchObject({
    shrunk: { complete: false },
  });
  const run = await firstFailure(simulator);
  const [small, stopped] = [
    await simulator.shrink(run),
    await simulator.shrink(run, { maxSchedules: 1 }),
  ];
  const words = (smallest: typeof small): string => failureText(run, 'found', smallest);
  expect(words(stopped)).toContain(
    `not the smallest: stopped after ${stopped.schedules} schedules`,
  );
  expect(words(small)).not.toContain('not the smallest');
});
