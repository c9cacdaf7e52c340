import { http } from 'msw';
import { setupServer } from 'msw/node';
import { describe, expect, test } from 'vitest';
import { integrations } from '../../../../sim/integrations/index.ts';
import type { Integration } from '../../../../sim/world/integration.ts';
import { scenarios } from '../../../../sim/world/scenarios.ts';
import { createSimulator, type Simulator } from '../../../../sim/world/simulator.ts';
import { sharedPglite } from '../../../setup/databases.ts';

/** One integration that calls the `fetch` that it is given, and the same one calling the global. */
async function bothWays(name: string): Promise<{ injected: Simulator; global: Simulator }> {
  const database = await sharedPglite();
  const [integration] = integrations;
  const scenario = scenarios.find((one) => one.name === name);
  if (integration === undefined || scenario === undefined) throw new Error(`No ${name}.`);
  const callingTheGlobal: Integration = {
    ...integration,
    start: (ports) =>
      integration.start({ ...ports, fetch: (input, init) => globalThis.fetch(input, init) }),
  };
  return {
    injected: await createSimulator({ scenario, integration, database }),
    global: await createSimulator({
      scenario,
      integration: callingTheGlobal,
      database,
      fetch: 'global',
    }),
  };
}

describe('code that calls the global fetch', () => {
  test.each(['everything', 'stale-poll', 'rate-limited'])(
    'takes the same steps as with an injected fetch: %s',
    async (name) => {
      const { injected, global } = await bothWays(name);
      for (let seed = 1; seed <= 12; seed += 1) {
        expect(await global.run({ seed })).toEqual(await injected.run({ seed }));
      }
    },
  );

  test('takes them while an MSW server of the suite listens, which goes on afterwards', async () => {
    const { injected, global } = await bothWays('stale-poll');
    const alone = await injected.run({ seed: 1 });
    const asked: string[] = [];
    const server = setupServer(
      http.all('*', ({ request }) => {
        asked.push(request.url);
        return new Response('of the suite');
      }),
    );
    server.listen();
    try {
      expect(await injected.run({ seed: 1 })).toEqual(alone);
      expect(await global.run({ seed: 1 })).toEqual(alone);
      expect(asked).toEqual([]);
      const answer = await fetch('https://elsewhere.example/');
      expect(await answer.text()).toBe('of the suite');
    } finally {
      server.close();
    }
  });
});
