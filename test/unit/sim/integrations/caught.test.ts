import { describe, expect, it } from 'vitest';
import { integrations } from '../../../../sim/integrations/index.ts';
import { scenarios } from '../../../../sim/world/scenarios.ts';
import { createSimulator } from '../../../../sim/world/simulator.ts';
import { sharedPglite } from '../../../setup/databases.ts';

/** Where each published mistake shows. What only several connections show is not among them. */
const SHOWN_BY: Readonly<Record<string, string>> = {
  'naive-update': 'stale-poll',
  'last-terminal-wins': 'conflicting-terminals',
  'drop-unknown': 'early-webhook',
  'unknown-is-404': 'early-webhook',
  'park-never-drain': 'early-webhook',
  'drain-outside-transaction': 'early-webhook',
  'park-overwrites': 'conflicting-terminals',
  'look-then-park-autocommit': 'early-webhook',
  'ack-before-store': 'early-webhook',
  'dedupe-before-work': 'commit-unknown',
  'effect-unguarded': 'duplicate-webhook',
  'signature-skipped': 'forged-webhook',
  'signature-reserialised': 'early-webhook',
  'unknown-event-500': 'unknown-event',
  'canceled-is-failed': 'cancel-vs-complete',
  'sweeper-unguarded': 'sweep-vs-webhook',
  'sweeper-invents-failure': 'rate-limited',
  'no-sweeper': 'lost-webhook',
  'result-too-early': 'stale-poll',
  'own-job-id': 'early-webhook',
  'retry-without-key': 'lost-answer',
  'reads-replica': 'replica-lag',
};
const ONLY_ON_A_SERVER = ['look-then-park', 'lock-at-repeatable-read', 'look-without-rank'];

describe('each published mistake', () => {
  it('has its place here', () => {
    const broken = integrations
      .filter(({ caughtBy }) => caughtBy !== undefined)
      .map(({ name }) => name);
    expect(broken.toSorted()).toEqual([...Object.keys(SHOWN_BY), ...ONLY_ON_A_SERVER].toSorted());
  });

  it('says so if PGlite cannot show it', () => {
    const onServer = integrations.filter(({ needs }) => needs === 'postgres');
    expect(onServer.map(({ name }) => name).toSorted()).toEqual(ONLY_ON_A_SERVER.toSorted());
  });

  for (const [name, scenarioName] of Object.entries(SHOWN_BY)) {
    it(`${name} is caught in ${scenarioName} by the invariant named for it`, async () => {
      const integration = integrations.find((one) => one.name === name);
      const scenario = scenarios.find((one) => one.name === scenarioName);
      if (integration === undefined || scenario === undefined) throw new Error('Not shipped.');
      const simulator = await createSimulator({
        scenario,
        integration,
        database: await sharedPglite(),
      });
      const seen = new Set<string>();
      let caught = false;
      for (let seed = 1; seed <= 300 && !caught; seed += 1) {
        const run = await simulator.run({ seed });
        expect(run.error).toBeUndefined();
        for (const { invariant } of run.violations) seen.add(invariant);
        caught = run.violations.some(
          ({ invariant }) => integration.caughtBy?.includes(invariant) === true,
        );
      }
      expect(caught, `300 schedules showed only: ${[...seen].join(', ') || 'nothing'}`).toBe(true);
    });
  }
});
