import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { integrations } from '../../sim/integrations/index.ts';
import { createSimulator } from '../../sim/world/simulator.ts';
import { scenarios } from '../../sim/world/scenarios.ts';
import { MAX_SEED } from '../../sim/engine/random.ts';
import { sharedPglite } from '../setup/databases.ts';
import { describeFailure } from './describe-failure.ts';

const [guarded] = integrations;

describe('the reconciliation core', () => {
  it('survives any scenario, any schedule and any number of faults', async () => {
    const database = await sharedPglite();
    if (guarded === undefined) throw new Error('No integration is shipped.');
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...scenarios),
        fc.integer({ min: 0, max: MAX_SEED }),
        fc.nat({ max: 8 }),
        async (scenario, seed, faults) => {
          const simulator = await createSimulator({
            scenario,
            integration: guarded,
            database,
            faults,
          });
          const run = await simulator.run({ seed });
          expect(run.verdict, describeFailure(run)).toBe('pass');
        },
      ),
      { numRuns: 200, seed: 1, endOnFailure: true },
    );
  });
});
