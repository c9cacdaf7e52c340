import { queryObjects } from 'node:v8';
import { expect, test } from 'vitest';
import type { Integration } from '../../../../sim/world/integration.ts';
import { createSimulator } from '../../../../sim/world/simulator.ts';
import { sharedPglite } from '../../../setup/databases.ts';
import { integrationNamed, scenarioNamed } from './shipped.ts';

const SCHEDULES = 20;

test.each(['injected', 'global'] as const)(
  'a schedule that is over is let go by the next garbage collection, whatever crashed in it: %s fetch',
  async (kind) => {
    /** What a process of a simulated world is made of. */
    class Started {
      readonly by = 'guarded';
    }
    let started = 0;
    const guarded = integrationNamed('guarded');
    const integration: Integration = {
      ...guarded,
      start: (ports) => {
        started += 1;
        const fetch: typeof ports.fetch = (input, init) => globalThis.fetch(input, init);
        const handlers = guarded.start(kind === 'global' ? { ...ports, fetch } : ports);
        return Object.assign(new Started(), handlers);
      },
    };
    const simulator = await createSimulator({
      scenario: scenarioNamed('everything'),
      integration,
      database: await sharedPglite(),
      ...(kind === 'global' && { fetch: kind }),
    });
    for (let seed = 1; seed <= SCHEDULES; seed += 1) await simulator.run({ seed });
    const startedBefore = started;
    await simulator.run({ seed: SCHEDULES + 1 });
    // It collects garbage first. What waited for a finalizer would go only after a turn, and make the heap grow.
    const kept = queryObjects(Started, { format: 'count' });
    expect(startedBefore).toBeGreaterThanOrEqual(SCHEDULES);
    expect(kept).toBeLessThanOrEqual(started - startedBefore);
  },
);
