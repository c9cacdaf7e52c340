import { beforeAll, describe, expect, it } from 'vitest';
import { decodeToken, encodeToken } from '../../../../sim/engine/token.ts';
import type { Integration, Ports } from '../../../../sim/world/integration.ts';
import type { Run } from '../../../../sim/world/run.ts';
import { createSimulator, ReplayError } from '../../../../sim/world/simulator.ts';
import { sharedPglite } from '../../../setup/databases.ts';
import { firstFailure, integrationNamed, scenarioNamed, simulatorOf } from './shipped.ts';

/** Made before tokens named the rule of run-to-completion. */
const FIRST_FORMAT =
  'sume1-i1YqLknMSdUtyM_JUdJRykvMLEvVLS1ISSxJBXIL0nMyQQwTUx0DHaDS0qTczBL9RIVHbRMUAvyDQxSKSvOAyopLc1P1s_KT4hMVgKYVlRTjEANZAhHTNwSaMUnB3TUEJFtSSlgWybzk_NyCnNSSVDzCaGZNwGsTmizcl5l5xalFJQogK-KBqjF0YpEvT03CLR0bCwCAmVeo';

/** The same integration on other ports: code that has been edited. */
function edited(name: string, edit: (ports: Ports) => Ports): Integration {
  const integration = integrationNamed(name);
  return { ...integration, start: (ports) => integration.start(edit(ports)) };
}

describe('a token', () => {
  let failing: Run;
  let token: string;
  beforeAll(async () => {
    const simulator = await simulatorOf('stale-poll', 'naive-update');
    failing = await firstFailure(simulator);
    token = (await simulator.shrink(failing)).token;
  });

  it('stays valid when the code gets an unrelated step', async () => {
    const simulator = await createSimulator({
      scenario: scenarioNamed('stale-poll'),
      integration: edited('naive-update', (ports) => ({
        ...ports,
        fetch: async (input, init) => {
          const answer = await ports.fetch(input, init);
          await ports.database.query('select 1');
          return answer;
        },
      })),
      database: await sharedPglite(),
    });
    for (const one of [token, failing.token]) {
      const run = await simulator.replay(one);
      expect(run.steps.map(({ label }) => label)).toContain('submit/a select 1');
      expect(run.violations.map(({ invariant }) => invariant)).toContain('rank-never-drops');
    }
  });

  it('of the first format stays valid', async () => {
    expect(decodeToken(FIRST_FORMAT)).toMatchObject({ rule: 1, without: [] });
    const run = await (await simulatorOf('stale-poll', 'naive-update')).replay(FIRST_FORMAT);
    expect(run.violations.map(({ invariant }) => invariant)).toContain('rank-never-drops');
    expect(run.token).toBe(FIRST_FORMAT);
  });

  it('that no longer fits names the first step that differs, and both steps', async () => {
    const simulator = await simulatorOf('stale-poll', 'naive-update');
    const recipe = decodeToken(token);
    const [first] = recipe.deviations;
    const gone = { after: first?.after ?? '', take: 'poll/job_a/1 update something_else' };
    const replay = simulator.replay(
      encodeToken({ ...recipe, deviations: [gone, ...recipe.deviations.slice(1)] }),
    );
    await expect(replay).rejects.toThrow(ReplayError);
    await expect(replay).rejects.toThrow(/first step that differs is step \d+\. After "submit/);
    await expect(replay).rejects.toThrow('the token takes "poll/job_a/1 update something_else"');
    await expect(replay).rejects.toThrow('what happens is "poll/job_a/1 → GET status"');
  });

  it('whose moment never comes names the step that did not happen, and where the run ended', async () => {
    const simulator = await simulatorOf('stale-poll', 'naive-update');
    const recipe = decodeToken(token);
    const never = { after: 'poll/job_a/9 → GET status', take: 'sume/job_a completes' };
    const replay = simulator.replay(encodeToken({ ...recipe, deviations: [never] }));
    await expect(replay).rejects.toThrow('after the step "poll/job_a/9 → GET status" it takes');
    await expect(replay).rejects.toThrow('ended with "');
  });

  it('of another integration is refused, unless leniently', async () => {
    const guarded = await simulatorOf('stale-poll', 'guarded');
    await expect(guarded.replay(token)).rejects.toThrow('The token is of naive-update');
    expect((await guarded.replay(token, { lenient: true })).verdict).toBe('pass');
  });
});

describe('a failure', () => {
  it('that is had again is what it was', async () => {
    const simulator = await simulatorOf('stale-poll', 'naive-update');
    const failing = await firstFailure(simulator);
    expect(await simulator.confirm(failing)).toBe(failing);
  });

  it('that is not had again cannot be judged, and the first step where the runs part is named', async () => {
    let calls = 0;
    const simulator = await createSimulator({
      scenario: scenarioNamed('stale-poll'),
      integration: edited('naive-update', (ports) => ({
        ...ports,
        fetch: async (input, init) => {
          const answer = await ports.fetch(input, init);
          calls += 1;
          // What an earlier schedule left in memory decides.
          if (calls % 5 === 0) await ports.database.query('select 1');
          return answer;
        },
      })),
      database: await sharedPglite(),
    });
    const confirmed = await simulator.confirm(await firstFailure(simulator));
    expect(confirmed.verdict).toBe('error');
    expect(confirmed.error?.code).toBe('nondeterminism');
    expect(confirmed.error?.message).toMatch(/part at step \d+: first it was ".*select 1/s);
  });
});
