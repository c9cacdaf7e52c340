import { describe, expect, it } from 'vitest';
import { integrations } from '../../../../sim/integrations/index.ts';
import { throughSetupServer } from '../../../../sim/testing/through-setup-server.ts';
import { scenarios } from '../../../../sim/world/scenarios.ts';
import { createSimulator } from '../../../../sim/world/simulator.ts';
import { sharedPglite } from '../../../setup/databases.ts';

describe('code that calls the global fetch', () => {
  it('takes the same steps through setupServer as with an injected fetch', async () => {
    const database = await sharedPglite();
    const [integration] = integrations;
    if (integration === undefined) throw new Error('No integration is shipped.');
    for (const name of ['everything', 'stale-poll', 'rate-limited']) {
      const scenario = scenarios.find((one) => one.name === name);
      if (scenario === undefined) throw new Error(`No scenario ${name}.`);
      const injected = await createSimulator({ scenario, integration, database });
      const global = await createSimulator({
        scenario,
        integration,
        database,
        interceptor: await throughSetupServer(),
      });
      for (let seed = 1; seed <= 12; seed += 1) {
        expect(await global.run({ seed })).toEqual(await injected.run({ seed }));
      }
    }
  });
});
