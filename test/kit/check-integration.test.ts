import { expect, test } from 'vitest';
import {
  checkIntegration,
  NotJudgedError,
  type CheckOptions,
  type IntegrationUnderTest,
} from '../../sim/testing/index.ts';
import { freshPglite, sharedPglite } from '../setup/databases.ts';
import { integration as byChance } from './by-chance-file.ts';
import { integration as globalFetch } from './global-fetch-file.ts';
import { naive, naiveHandlers } from './naive.ts';

/** What the check throws. */
async function refusal(
  integration: IntegrationUnderTest,
  options: CheckOptions = {},
): Promise<{ code?: string; message: string; token?: string }> {
  const database = await sharedPglite();
  return checkIntegration(integration, {
    scenario: 'stale-poll',
    runs: 20,
    database,
    ...options,
  }).then(
    () => {
      throw new Error('The check passed.');
    },
    (error: unknown) => error as { code?: string; message: string },
  );
}

test('a failure is explained, and its token has it again', async () => {
  const failure = await refusal(naive());
  expect(failure.code).toBe('invariant_violated');
  expect(failure.message).toContain('✗ fail: rank-never-drops');
  expect(failure.message).toContain('What races');
  expect(failure.message).toContain(`replay: '${failure.token}'`);
  const again = await refusal(naive(), { replay: failure.token ?? '' });
  expect(again.message).toContain('✗ fail: rank-never-drops');
});

test('the same check gives the same counterexample, also on tables that were used', async () => {
  const integration = naive();
  expect(await refusal(integration)).toEqual(await refusal(integration));
});

test('every schedule begins with empty tables, and with sequences at their start', async () => {
  const integration = naive();
  const ids: unknown[] = [];
  const counting: IntegrationUnderTest = {
    ...integration,
    start: (ports) => ({
      ...naiveHandlers(ports),
      submit: async () => {
        const { rows } = await ports.pool.query('insert into orders default values returning id');
        const { rowCount } = await ports.pool.query('select id from orders');
        ids.push([rows, rowCount]);
      },
    }),
  };
  const options = { scenario: 'stale-poll', runs: 3, database: await sharedPglite() };
  await checkIntegration(counting, options);
  await checkIntegration(counting, options);
  expect(ids).toEqual(Array.from({ length: 6 }, () => [[{ id: 1 }], 1]));
});

test('every order is run when asked for', async () => {
  const failure = await refusal(naive(), { every: true, runs: 300 });
  expect(failure.code).toBe('invariant_violated');
});

test('what cannot be judged is said', async () => {
  const database = await sharedPglite();
  const inert: IntegrationUnderTest = naive({
    sweep: 'elsewhere',
    start: (ports) => ({
      submit: (order) => naiveHandlers(ports).submit(order),
      handleWebhook: () => new Response(null, { status: 204 }),
    }),
  });
  const options = { scenario: 'expired', runs: 3, faults: 0, database };
  const { unchecked } = await checkIntegration(inert, options);
  expect(unchecked.join('\n')).toMatch(/readParked[^]*readEffects[^]*elsewhere/);
  // Held to it, it is caught: nothing ever learns that the job expired.
  const held = await refusal({ ...inert, sweep: undefined } as never, options);
  expect(held.message).toContain('✗ fail: converges');
});

test('a wait outside the ports names the task, the line and what to do', async () => {
  const integration = naive({
    start: (ports) => {
      const handlers = naiveHandlers(ports);
      return {
        ...handlers,
        poll: async (job) => {
          await new Promise((resolve) => setTimeout(resolve, 1));
          await handlers.poll(job);
        },
      };
    },
  });
  const failure = await refusal(integration);
  expect(failure.code).toBe('not_judged');
  expect(failure.message.replaceAll(/\s+/g, ' ')).toMatch(
    /poll\/job_a\/1 used setTimeout .*check-integration\.test\.ts.*ports\.clock/,
  );
});

test.each([
  ['drawn orders', {}],
  ['every order', { every: true }],
])(
  '%s: code that does otherwise each time cannot be judged, and is told why',
  async (_, options) => {
    const failure = await refusal(byChance, { runs: 60, ...options });
    expect(failure).toBeInstanceOf(NotJudgedError);
    expect(failure.code).toBe('not_judged');
    expect((failure as NotJudgedError).run.error?.code).toBe('nondeterminism');
    const words = failure.message.replaceAll(/\s+/g, ' ');
    expect(words).toMatch(
      /part at step \d+.*decides by something.*Take the time from ports\.clock/,
    );
  },
);

test('a failure that is gone after its two replays cannot be judged either', async () => {
  const { token = '' } = await refusal(naive());
  let submits = 0;
  const fading = naive({
    start: (ports) => {
      const handlers = naiveHandlers(ports);
      return {
        ...handlers,
        submit: async (order) => {
          submits += 1;
          await handlers.submit(order);
        },
        // The schedule itself and two replays fail; whatever is tried to make it smaller does not.
        handleWebhook: async (request) =>
          submits <= 3 ? handlers.handleWebhook(request) : new Response(null, { status: 204 }),
      };
    },
  });
  const failure = await refusal(fading, { replay: token });
  expect(failure.code).toBe('not_judged');
  expect(failure.message.replaceAll(/\s+/g, ' ')).toContain('its replay does not');
});

test('code that calls the global fetch takes the same steps', async () => {
  const byPort = await refusal(naive());
  const byGlobal = await refusal(globalFetch);
  expect(byGlobal).toMatchObject({ code: byPort.code, message: byPort.message });
});

test('code that calls the global fetch and does not say so is told how to', async () => {
  const { fetch: _said, ...silent } = globalFetch;
  const failure = await refusal(silent);
  expect(failure.code).toBe('not_judged');
  const words = failure.message.replaceAll(/\s+/g, ' ');
  expect(words).toMatch(/used the global fetch .*global-fetch-file\.ts.*Use ports\.fetch/);
  expect(words).toContain("Or put fetch: 'global' beside setup and start");
});

test('readers that fail, or give what is no row, are named', async () => {
  const failing = await refusal(
    naive({ readJob: () => Promise.reject(new Error('no such column')) }),
  );
  expect(failing).toMatchObject({ code: 'reader_failed' });
  expect(failing.message).toContain('readJob failed for job_a: no such column');
  const odd = await refusal(naive({ readJob: async () => ({ state: 'done' }) as never }));
  expect(odd.message).toContain('readJob gave {"state":"done"} for job_a');
});

test('a setup that fails is named, with what the database said, and leaves the database usable', async () => {
  const broken = naive({
    setup: async ({ pool }) => {
      const client = await pool.connect();
      await client.query('begin');
      await client.query('create table videos (job text references jobs)');
    },
  });
  const failure = await refusal(broken);
  expect(failure).toMatchObject({ code: 'setup_failed', cause: { code: '42P01' } });
  expect(failure.message).toContain('setup of the integration "integration" failed: relation');
  expect(failure.message).toContain('"jobs" does not exist (SQLSTATE 42P01)');
  expect((await refusal(naive())).code).toBe('invariant_violated');
  const throwing = await refusal(naive({ setup: () => Promise.reject(new TypeError('no url')) }));
  expect(throwing.message).toContain('failed: TypeError: no url. It is called once');
});

test('the handle of setup is refused where the ports should be used', async () => {
  let kept: Parameters<IntegrationUnderTest['setup']>[0] | null = null;
  const integration = naive();
  const failure = await refusal({
    ...integration,
    setup: async (database) => {
      kept = database;
      await integration.setup(database);
    },
    start: (ports) => ({
      ...naiveHandlers(ports),
      handleWebhook: async () => {
        await kept?.query('select 1');
        return new Response();
      },
    }),
  });
  expect(failure.message).toContain('HandleClosedError');
});

test.each([
  [{ scenario: 'everthing' }, 'check_option', 'There is no scenario "everthing"'],
  [{ scenario: 'open-transaction' }, 'check_option', 'one connection'],
  [{ runs: 0 }, 'check_option', 'runs is 0'],
  [{ run: 5 } as CheckOptions, 'check_option', 'There is no option run. There are scenario, runs'],
  [{ replay: 'sume1-x' }, 'token_mangled', 'damaged'],
])('%j is refused', async (options, code, words) => {
  const failure = await refusal(naive(), options);
  expect(failure.code).toBe(code);
  expect(failure.message).toContain(words);
});

test('a database that is closed, before or during the check, is told from one that fails', async () => {
  const closed = await freshPglite();
  await closed.close();
  expect(await refusal(naive(), { database: closed })).toMatchObject({ code: 'database_closed' });

  const closing = await freshPglite();
  const check = refusal(naive(), { database: closing });
  await closing.close();
  expect(await check).toMatchObject({ code: 'database_closed' });
});

test('what is no integration is refused by what it lacks', async () => {
  const failure = await refusal({ setup: () => {} } as never);
  expect(failure.code).toBe('integration_shape');
  expect(failure.message).toContain('start is missing');
});
