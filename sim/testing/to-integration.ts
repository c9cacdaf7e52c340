import type { DatabaseHandle, Handlers, Integration, Readers } from '../world/integration.ts';
import type { SimulatorOptions } from '../world/simulator.ts';
import type { IntegrationUnderTest, TestDatabase, TestPorts } from './integration-under-test.ts';
import { integrationProblem } from './integration-problem.ts';

/** What was given is no integration. The message names what is missing. */
export class IntegrationShapeError extends TypeError {
  override readonly name = 'IntegrationShapeError';
  readonly code = 'integration_shape';
}

const known = new WeakMap<IntegrationUnderTest, Map<string, Integration>>();

/**
 * A team's integration as the simulator runs it: always the same for the same one, so that its tables are made once.
 *
 * @throws {IntegrationShapeError} if it is none.
 */
export function toSystem(
  given: IntegrationUnderTest,
  name: string = given.name ?? 'integration',
): Pick<SimulatorOptions, 'integration' | 'fetch'> {
  const problem = integrationProblem(given);
  if (problem !== null) throw new IntegrationShapeError(`This is no integration: ${problem}.`);
  const byName = known.get(given) ?? new Map<string, Integration>();
  known.set(given, byName);
  const integration = byName.get(name) ?? toIntegration(given, name);
  byName.set(name, integration);
  return { integration, ...(given.fetch === undefined ? {} : { fetch: given.fetch }) };
}

function toIntegration(given: IntegrationUnderTest, name: string): Integration {
  const readers: Readers = {
    job: async (jobId, database) => asRow(await given.readJob(jobId, withPool(database))),
    ...(given.readParked === undefined
      ? {}
      : {
          parked: async (jobId, database) =>
            asRow(await given.readParked?.(jobId, withPool(database))),
        }),
    ...(given.readEffects === undefined
      ? {}
      : {
          effects: async (jobId, database) =>
            (await given.readEffects?.(jobId, withPool(database))) as number,
        }),
  };
  return {
    name,
    text: 'An integration of your own.',
    tables: {
      jobs: 'jobs',
      parked: given.readParked === undefined ? null : 'parked',
      effects: given.readEffects === undefined ? null : 'effects',
    },
    readers,
    ...(given.memory === 'none' ? {} : { memory: 'shared' as const }),
    untold: [
      ...(given.readParked === undefined ? (['parked'] as const) : []),
      ...(given.sweep === 'elsewhere' ? (['sweep'] as const) : []),
    ],
    setup: async (database) => {
      await given.setup(withPool(database));
    },
    start: (ports): Handlers => {
      const { pool } = ports;
      if (pool === undefined) throw new IntegrationShapeError('Own tables are explored on PGlite.');
      const handlers = given.start({ ...ports, pool } satisfies TestPorts);
      return {
        submit: async (order) => String(await handlers.submit(order)),
        handleWebhook: async (request) => handlers.handleWebhook(request),
        poll: async (jobId) => {
          await handlers.poll?.(jobId);
        },
        sweep: async () => {
          await handlers.sweep?.();
        },
      };
    },
  };
}

function withPool(database: DatabaseHandle): TestDatabase {
  const { pool } = database;
  if (pool === undefined) throw new IntegrationShapeError('Own tables are explored on PGlite.');
  return database as TestDatabase;
}

/** The reader of rows looks at what comes: here only the type is taken off. */
function asRow(view: object | null | undefined): Record<string, unknown> | null {
  return (view ?? null) as Record<string, unknown> | null;
}
