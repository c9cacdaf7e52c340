import { describe, expect, it } from 'vitest';
import { decodeToken } from '../../sim/engine/token.ts';
import { integrations } from '../../sim/integrations/index.ts';
import { simulatorOf } from '../unit/sim/world/shipped.ts';
import bugs from './bugs.json' with { type: 'json' };

/** Only several connections show these. */
const ONLY_ON_A_SERVER = ['look-then-park', 'lock-at-repeatable-read', 'look-without-rank'];

/** One counterexample of every shipped mistake, as its token was when it was found. */
describe('the corpus', () => {
  it('holds every shipped mistake', () => {
    const broken = integrations
      .filter(({ caughtBy }) => caughtBy !== undefined)
      .map(({ name }) => name);
    expect(
      bugs
        .map(({ integration }) => integration)
        .concat(ONLY_ON_A_SERVER)
        .toSorted(),
    ).toEqual(broken.toSorted());
  });

  const sizes: { steps: number; departures: number }[] = [];
  it.each(bugs)('$integration breaks $invariant', async ({ integration, invariant, token }) => {
    const simulator = await simulatorOf(decodeToken(token).scenario, integration);
    const run = await simulator.replay(token);
    expect(run.violations.map((violation) => violation.invariant)).toContain(invariant);
    expect(run.token).toBe(token);
    const last = run.violations.find((violation) => violation.invariant === invariant)?.step ?? 0;
    sizes.push({ steps: last, departures: decodeToken(token).deviations.length });
  });

  it('tells each in a handful of steps: in the median at most 8, and 2 departures', () => {
    expect(sizes).toHaveLength(bugs.length);
    expect(median(sizes.map(({ steps }) => steps))).toBeLessThanOrEqual(8);
    expect(median(sizes.map(({ departures }) => departures))).toBeLessThanOrEqual(2);
  });

  it.each(bugs)('guarded survives what breaks $integration', async ({ token }) => {
    const simulator = await simulatorOf(decodeToken(token).scenario, 'guarded');
    const run = await simulator.replay(token, { lenient: true });
    expect(run.violations).toEqual([]);
    expect(run.verdict).toBe('pass');
  });
});

/** The middle one, or the greater of the two in the middle. */
function median(values: readonly number[]): number {
  return values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)] ?? Number.NaN;
}
