import { Hono } from 'hono';
import type { Reconciler } from '../../../src/index.ts';
import type { Metrics } from './metrics.ts';
import type { Orders } from './orders.ts';

/** The HTTP face of the service. */
export function createApp(parts: {
  orders: Orders;
  reconciler: Reconciler;
  handleWebhook: (request: Request) => Promise<Response>;
  metrics: Metrics;
  /** Where Sume is to send webhooks. */
  webhookUrl: () => string;
}): Hono {
  const { orders, reconciler, handleWebhook, metrics, webhookUrl } = parts;
  const app = new Hono();

  app.post('/orders', async (c) => {
    const body: unknown = await c.req.json().catch(() => null);
    const { orderId, script } = (body ?? {}) as Record<string, unknown>;
    if (typeof orderId !== 'string' || orderId === '' || typeof script !== 'string') {
      return c.json({ error: 'Send { "orderId": "…", "script": "…" }.' }, 400);
    }
    const placed = await orders.place(orderId, {
      model: 'sume/avatar-video/v1.0',
      input: { script },
      webhookUrl: webhookUrl(),
    });
    if (placed === 'other') {
      return c.json({ error: `The order ${orderId} was placed with another script.` }, 409);
    }
    return c.json({ orderId }, 202);
  });

  app.get('/orders/:orderId', async (c) => {
    const order = await orders.read(c.req.param('orderId'));
    if (order === null) return c.json({ error: 'There is no such order.' }, 404);
    const { orderId, jobId, refusal } = order;
    const job = jobId === null ? null : await reconciler.job(jobId);
    const status = refusal === null ? (job?.status ?? 'placed') : 'refused';
    return c.json({ orderId, jobId, status, result: job?.result ?? null });
  });

  // The request as it came: a body parser before it would leave no bytes to check the signature of.
  app.post('/webhooks/sume', async (c) => {
    const response = await handleWebhook(c.req.raw);
    metrics.answered(response.status);
    return response;
  });

  app.get('/metrics', async (c) => {
    const { contentType, text } = await metrics.write();
    return c.body(text, 200, { 'content-type': contentType });
  });

  return app;
}
