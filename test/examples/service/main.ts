import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { createAdaptorServer } from '@hono/node-server';
import { Pool } from 'pg';
import {
  createReconciler,
  createSumeClient,
  createWebhookHandler,
  postgresDatabase,
  systemClock as clock,
  type Reconciler,
} from '../../../src/index.ts';
import { createApp } from './app.ts';
import { createMetrics } from './metrics.ts';
import { createOrders } from './orders.ts';
import { readSettings } from './settings.ts';
import { createSubmitOrder } from './submit-order.ts';
import { prepareDatabase } from './tables.ts';
import { openQueue, startWorkers } from './workers.ts';

// One process of the service: HTTP, submits and sweeps. Any number of them share one database. An error that
// nobody awaits ends the process, as Node has it; whatever runs it starts it again, and its work goes on.

const toldToStop = Promise.race([once(process, 'SIGTERM'), once(process, 'SIGINT')]);
const settings = readSettings(process.env);
const onError = (error: unknown): void => console.error(error);

const pool = new Pool({ connectionString: settings.databaseUrl, max: 10 });
pool.on('error', onError);
const database = postgresDatabase(pool);
const boss = await prepareDatabase(database, () => openQueue(settings, onError));

const client = createSumeClient(settings.sume);
const reconciler: Reconciler = createReconciler({
  database,
  onTerminal: async ({ jobId, correlationId, status, terminalAt }, tx) => {
    await tx.query(
      'insert into outbox (order_id, job_id, status, created_at) values ($1, $2, $3, $4)',
      [correlationId, jobId, status, terminalAt],
    );
  },
});
const metrics = createMetrics({
  database,
  reconciler,
  staleAfterMs: settings.patience.staleAfterMs,
  now: () => clock.now(),
});
const handleWebhook = createWebhookHandler({
  reconciler: {
    receive: async (event) => {
      const outcome = await reconciler.receive(event);
      metrics.received(outcome);
      return outcome;
    },
  },
  secrets: settings.sume.webhookSecrets,
  onError,
});
const orders = createOrders({ database, boss, clock });

const server = createAdaptorServer({
  fetch: createApp({
    orders,
    reconciler,
    handleWebhook,
    metrics,
    webhookUrl: () => `${settings.publicUrl ?? ownUrl()}/webhooks/sume`,
  }).fetch,
});
const ownUrl = (): string => `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

const stopping = new AbortController();
server.listen(settings.port, settings.host);
await once(server, 'listening');
await startWorkers(
  boss,
  {
    submitOrder: createSubmitOrder({
      database,
      orders,
      client,
      reconciler,
      metrics,
      clock,
      longestWaitMs: settings.sume.timeoutMs,
    }),
    sweep: async ({ signal }) => {
      try {
        metrics.swept(await reconciler.sweep({ client, ...settings.patience, signal }));
      } catch (error) {
        metrics.swept(null);
        throw error;
      }
    },
    onRetry: () => metrics.retried(),
  },
  { settings, clock, signal: stopping.signal, onError },
);
console.log(JSON.stringify({ url: ownUrl() }));

await toldToStop;
// What is under way is finished; what is not taken up yet is another process's.
stopping.abort();
const closed = once(server, 'close');
server.close();
await boss.stop();
await closed;
await pool.end();
// A worker whose last look at the queue was dropped with the connections would keep a timer, and this process.
process.exit();
