import { beforeAll, describe, expect, it } from 'vitest';
import { decodeToken, encodeToken } from '../../../../sim/engine/token.ts';
import type { Counterexample } from '../../../../sim/world/counterexample.ts';
import type { Run } from '../../../../sim/world/run.ts';
import type { Simulator } from '../../../../sim/world/simulator.ts';
import { firstFailure, simulatorOf } from './shipped.ts';

describe('a counterexample', () => {
  let simulator: Simulator;
  let failing: Run;
  let shrunk: Counterexample;
  beforeAll(async () => {
    simulator = await simulatorOf('everything', 'drain-outside-transaction');
    failing = await firstFailure(simulator, 'parked-drains');
    shrunk = await simulator.shrink(failing, { invariant: 'parked-drains' });
  });

  it('ends with the violation, and is far smaller than what was found', () => {
    expect(shrunk.steps.length).toBeLessThan(failing.steps.length / 3);
    expect(shrunk.violation).toMatchObject({
      invariant: 'parked-drains',
      step: shrunk.steps.length,
    });
    expect(shrunk.run.violations).toContainEqual(shrunk.violation);
  });

  it('holds one job of five, and no fault', () => {
    const tasks = shrunk.steps.map(({ task }) => task);
    expect(new Set(tasks.filter((task) => task.startsWith('submit/'))).size).toBe(1);
    expect(shrunk.steps.filter(({ fault }) => fault !== null)).toEqual([]);
    expect(decodeToken(shrunk.token).faults).toBe(0);
  });

  it('is had again from its token, step for step', async () => {
    const again = await simulator.replay(shrunk.token);
    expect(again.token).toBe(shrunk.token);
    expect(again.steps.slice(0, shrunk.steps.length)).toEqual(shrunk.steps);
    expect(again.violations).toContainEqual(shrunk.violation);
  });

  it('needs every one of its deviations', async () => {
    const recipe = decodeToken(shrunk.token);
    expect(recipe.deviations).toEqual(shrunk.deviations);
    expect(recipe.deviations.length).toBeGreaterThan(0);
    for (const left of recipe.deviations) {
      const deviations = recipe.deviations.filter((deviation) => deviation !== left);
      const run = await simulator.replay(encodeToken({ ...recipe, deviations }), { lenient: true });
      expect(run.violations.map(({ invariant }) => invariant)).not.toContain('parked-drains');
    }
  });

  it('names the two steps that race, on what, and the order that passes', async () => {
    const { race } = shrunk;
    expect(race?.on).toMatch(/^row:job_[abcd]$/);
    expect(race?.first.task).not.toBe(race?.second.task);
    const swapped = race?.swapped.steps.map(({ label }) => label) ?? [];
    expect(swapped.indexOf(race?.second.label ?? '')).toBeLessThan(
      swapped.indexOf(race?.first.label ?? ''),
    );
    expect((await simulator.replay(race?.swapped.token ?? '')).verdict).toBe('pass');
  });

  it('is the same each time', async () => {
    const again = await simulator.shrink(failing, { invariant: 'parked-drains' });
    expect(again).toEqual(shrunk);
  });
});

describe('shrinking', () => {
  it('keeps the fault that a failure needs, and drops the others', async () => {
    const simulator = await simulatorOf('replica-lag', 'reads-replica');
    const shrunk = await simulator.shrink(await firstFailure(simulator));
    expect(shrunk.steps.map(({ fault }) => fault).filter((fault) => fault !== null)).toEqual([
      'replica-lag',
    ]);
    expect(decodeToken(shrunk.token).faults).toBe(1);
  });

  it.each([
    ['a jump of the clock', 23],
    ['a crash of another task', 27],
  ])('drops %s right after which the failure came', async (_what, seed) => {
    const simulator = await simulatorOf('everything', 'signature-skipped');
    const failing = await simulator.run({ seed });
    const shrunk = await simulator.shrink(failing, { invariant: 'unsigned-is-inert' });
    expect(failing.steps.filter(({ fault }) => fault !== null)).not.toEqual([]);
    expect(shrunk.steps.filter(({ fault }) => fault !== null)).toEqual([]);
  });

  it('keeps what is seen only in the end', async () => {
    const simulator = await simulatorOf('everything', 'no-sweeper');
    const shrunk = await simulator.shrink(await firstFailure(simulator, 'converges'), {
      invariant: 'converges',
    });
    expect(shrunk.violation.invariant).toBe('converges');
    expect(shrunk.steps.at(-1)?.phase).toBe('liveness');
    expect(shrunk.deviations).toEqual([]);
  });

  it('makes nothing of a failure that no order prevents', async () => {
    const simulator = await simulatorOf('early-webhook', 'own-job-id');
    const shrunk = await simulator.shrink(await firstFailure(simulator));
    expect(shrunk).toMatchObject({ deviations: [], race: null });
  });

  it('ends at its limit with what it has so far, which fails as it did and is had again', async () => {
    const simulator = await simulatorOf('everything', 'drain-outside-transaction');
    const failing = await firstFailure(simulator, 'parked-drains');
    const shrink = (maxSchedules: number): Promise<Counterexample> =>
      simulator.shrink(failing, { invariant: 'parked-drains', maxSchedules });
    const [none, some] = [await shrink(1), await shrink(3)];
    for (const stopped of [none, some]) {
      expect(stopped.complete).toBe(false);
      expect(stopped.violation.invariant).toBe('parked-drains');
      const again = await simulator.replay(stopped.token);
      expect(again.violations).toContainEqual(stopped.violation);
    }
    // The token's own run, and the swaps, are beside the limit.
    expect(some.schedules).toBeLessThanOrEqual(3 + 1 + 24);
    expect(some.steps.length).toBeLessThan(none.steps.length);
    expect((await simulator.shrink(failing, { invariant: 'parked-drains' })).complete).toBe(true);
  });

  it('takes a run that passed for a mistake of the caller', async () => {
    const simulator = await simulatorOf('early-webhook', 'guarded');
    await expect(simulator.shrink(await simulator.run({ seed: 1 }))).rejects.toThrow(
      'without a violation',
    );
  });
});
