import { Client } from 'pg';
import {
  createReconciler,
  createWebhookHandler,
  migrate,
  postgresDatabase,
  type Reconciler,
  type ReconcilerOptions,
} from '../../src/index.ts';
import { openPostgres } from '../setup/databases.ts';
import type { OpenSchema, SchemaOptions } from '../setup/postgres-schema.ts';
import { signedDelivery } from './sign.ts';

/** One service on the core, and the means to stand in its way. */
export interface Service extends OpenSchema {
  reconciler: Reconciler;
  /** Delivers a webhook with this body, genuinely signed, and answers with the response. */
  deliver(body: object): Promise<Response>;
  /** What made deliveries fail (503), the latest last. */
  failures: unknown[];
  /** A session of the caller's own, outside the pool, and its process id on the server. */
  outsider(): Promise<{ client: Client; pid: number }>;
}

const SECRET = 'whsec_test';
const NOW = Date.UTC(2026, 6, 1);

export async function openService(
  options: Partial<ReconcilerOptions> = {},
  postgres: SchemaOptions = {},
): Promise<Service> {
  const opened = await openPostgres(postgres);
  const database = postgresDatabase(opened.pool);
  await migrate(database);
  const reconciler = createReconciler({ database, ...options });
  const failures: unknown[] = [];
  const handle = createWebhookHandler({
    reconciler,
    onError: (error) => failures.push(error),
    secrets: SECRET,
    clock: { now: () => NOW, sleep: () => Promise.reject(new Error('nothing here waits')) },
  });
  const outsiders: Client[] = [];
  return {
    ...opened,
    reconciler,
    failures,
    deliver: (body) => handle(signedDelivery(JSON.stringify(body), SECRET, NOW)),
    outsider: async () => {
      const client = new Client({ connectionString: opened.url });
      outsiders.push(client);
      await client.connect();
      const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid');
      return { client, pid: Number(rows[0]?.pid) };
    },
    close: async () => {
      for (const client of outsiders) await client.end();
      await opened.close();
    },
  };
}
