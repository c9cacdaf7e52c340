import { describe, expect, it } from 'vitest';
import { explain } from '../../../../sim/report/explain.ts';
import type { Counterexample } from '../../../../sim/world/counterexample.ts';
import { firstFailure, simulatorOf } from '../world/shipped.ts';

async function counterexampleOf(scenario: string, integration: string): Promise<Counterexample> {
  const simulator = await simulatorOf(scenario, integration);
  return simulator.shrink(await firstFailure(simulator));
}

/** The explanation as one line, its breaks and margins taken out. */
function words(counterexample: Counterexample): string {
  return explain(counterexample, { width: 100 }).join(' ').replace(/\s+/g, ' ');
}

describe('the explanation', () => {
  it('names two steps that race, the resource, and the swap that passes', async () => {
    const text = words(await counterexampleOf('early-webhook', 'look-then-park-autocommit'));
    expect(text).toMatch(
      /What races Step \d \(submit\/a .*\) and step \d \(web.*\), on the row of job_a\. Swapped With "web/,
    );
  });

  it('says of a step after the violation that it comes too late', async () => {
    const text = words(await counterexampleOf('early-webhook', 'drop-unknown'));
    expect(text).toMatch(/and a step that comes too late, after the violation \(submit\/a/);
  });

  it('names the fault without which it does not fail', async () => {
    const text = words(await counterexampleOf('replica-lag', 'reads-replica'));
    expect(text).toMatch(/What it needs The fault replica-lag at step \d/);
  });

  it('does not say that of a fault which a limit kept from being left out', async () => {
    const counterexample = await counterexampleOf('replica-lag', 'reads-replica');
    expect(words({ ...counterexample, complete: false })).not.toContain('What it needs');
  });

  it('says where nothing has to race', async () => {
    const text = words(await counterexampleOf('early-webhook', 'own-job-id'));
    expect(text).toContain('Nothing has to');
  });

  it('keeps to its width', async () => {
    const counterexample = await counterexampleOf('stale-poll', 'naive-update');
    for (const line of explain(counterexample, { width: 70 })) {
      expect(line.length).toBeLessThanOrEqual(70);
    }
  });
});
