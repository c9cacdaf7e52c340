import { expect, test } from 'vitest';
import { decodeToken } from '../../../../sim/engine/token.ts';
import { firstFailure, simulatorOf } from './shipped.ts';

test('a schedule in an order given by hand takes it as far as that is possible, and replays', async () => {
  const simulator = await simulatorOf('stale-poll', 'naive-update');
  const { token } = await simulator.shrink(await firstFailure(simulator));
  const failing = await simulator.replay(token);
  const recipe = decodeToken(token);
  const labels = failing.steps.filter(({ phase }) => phase === 'safety').map(({ label }) => label);
  expect(await simulator.order(labels, recipe)).toMatchObject({
    verdict: 'fail',
    steps: failing.steps,
  });

  // The poll's answer and write before the webhook's write: the row does not go back.
  const poll = labels.filter((label) => label.startsWith('poll/') && !label.includes('→'));
  const others = labels.filter((label) => !poll.includes(label));
  const before = others.findIndex((label) => label.includes('web/job_a/1 update'));
  const moved = others.toSpliced(before, 0, ...poll);
  const passing = await simulator.order(moved, recipe);
  expect(passing.verdict).toBe('pass');
  expect(await simulator.replay(passing.token)).toEqual(passing);

  // An answer before its question is no order: it waits until it can come.
  const impossible = await simulator.order(labels.toReversed(), recipe);
  expect(impossible.verdict).not.toBe('error');
});
