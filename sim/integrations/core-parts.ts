import {
  createReconciler,
  createSumeClient,
  createWebhookHandler,
  migrate,
  type Concurrency,
  type Reconciler,
  type SumeClient,
} from '../../src/index.ts';
import type { Queryable } from '../../src/database.ts';
import type { Handlers, Integration, Ports, WatchedTables } from '../world/integration.ts';
import type { InvariantName } from '../world/run.ts';

/** The tables that every shipped integration uses: the core's, and one for what a job's end sets off. */
export const TABLES: WatchedTables = {
  jobs: 'sume_jobs',
  parked: 'sume_parked',
  effects: 'effects',
};

/** The core's parts at work on one process's ports. */
export interface CoreParts {
  readonly ports: Ports;
  readonly reconciler: Reconciler;
  readonly client: SumeClient;
}

/** The handlers as the core's own documentation writes them. */
export function guardedHandlers({ ports, reconciler, client }: CoreParts): Handlers {
  return {
    submit: async ({ key, model, input }) => {
      const { jobId } = await client.submit({
        model,
        input,
        idempotencyKey: key,
        webhookUrl: ports.sume.webhookUrl,
      });
      await reconciler.register(jobId, { correlationId: key });
      return jobId;
    },
    handleWebhook: webhookHandler(ports, reconciler),
    poll: async (jobId) => {
      await reconciler.poll(jobId, client, { insert: true });
    },
    sweep: async () => {
      await reconciler.sweep({ client, ...ports.patience });
    },
  };
}

/** The core's endpoint in front of any `receive`. */
export function webhookHandler(
  ports: Ports,
  reconciler: Pick<Reconciler, 'receive'>,
): (request: Request) => Promise<Response> {
  return createWebhookHandler({
    reconciler,
    secrets: ports.sume.secrets,
    clock: ports.clock,
    // The answer is 503, and the trace shows the statement that failed.
    onError: () => {},
  });
}

/** Writes what a job's end sets off: here a row, in the transaction of the write that ended the job. */
export async function recordEffect(
  { jobId, status }: { jobId: string; status: string },
  tx: Queryable,
  at: Date,
): Promise<void> {
  await tx.query('insert into effects (job_id, status, at) values ($1, $2, $3)', [
    jobId,
    status,
    at,
  ]);
}

/**
 * An integration built on the core, with the named handlers written otherwise: what differs from `guarded` is
 * what its file says, and nothing else.
 */
export function onTheCore(shape: {
  name: string;
  text: string;
  caughtBy?: readonly InvariantName[];
  needs?: 'postgres';
  /** False for one whose own writes set off nothing. */
  hasEffects?: false;
  /** How the core keeps writers of one job apart; by a lock unless said otherwise. */
  concurrency?: Concurrency;
  /** Tables of its own, as DDL. */
  tables?: { name: string; ddl: string };
  handlers: (core: CoreParts) => Partial<Handlers>;
}): Integration {
  const { name, text, caughtBy, needs, tables, handlers, hasEffects = true, concurrency } = shape;
  return {
    name,
    text,
    ...(caughtBy === undefined ? {} : { caughtBy }),
    ...(needs === undefined ? {} : { needs }),
    tables: {
      ...TABLES,
      effects: hasEffects ? TABLES.effects : null,
      ...(tables === undefined ? {} : { others: [tables.name] }),
    },
    setup: async (database) => {
      await migrate(database);
      await database.query(
        'create table if not exists effects (job_id text not null, status text not null, at timestamptz not null)',
      );
      if (tables !== undefined) await database.query(tables.ddl);
    },
    start: (ports) => {
      const { database, clock, fetch, sume } = ports;
      const reconciler = createReconciler({
        database,
        clock,
        concurrency,
        ...(hasEffects
          ? { onTerminal: (job, tx) => recordEffect(job, tx, new Date(clock.now())) }
          : {}),
      });
      const client = createSumeClient({ apiKey: sume.apiKey, baseUrl: sume.baseUrl, fetch, clock });
      const core = { ports, reconciler, client };
      return { ...guardedHandlers(core), ...handlers(core) };
    },
  };
}
