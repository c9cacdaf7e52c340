import { createHmac, timingSafeEqual } from 'node:crypto';
import { Hono } from 'hono';
import type { IntegrationUnderTest, PoolClient, TestPorts } from '../../sim/testing/index.ts';

/** An example: plain SQL on a node-postgres pool, with a Hono app before it. Its tables are its own. */
export const integration: IntegrationUnderTest = {
  name: 'hono-node-postgres',

  setup: async ({ pool }) => {
    await pool.query(`
      create table videos (
        id bigserial primary key,
        sume_job text not null unique,
        state text not null default 'queued',
        output jsonb,
        touched_at timestamptz not null
      );
      create table early_events (sume_job text primary key, state text not null, output jsonb);
      create table mails (video_id bigint not null references videos, state text not null);
    `);
  },

  start: (ports) => {
    const { pool, fetch, sume, clock, patience } = ports;
    const app = webhookApp(ports);
    const api = async (path: string): Promise<Record<string, unknown> | null> => {
      const answer = await fetch(sume.baseUrl + path, { headers: authorization(ports) });
      if (answer.status !== 200) return null;
      const body = (await answer.json().catch(() => null)) as { data?: unknown } | null;
      return (body?.data ?? null) as Record<string, unknown> | null;
    };
    const poll = async (job: string): Promise<void> => {
      const state = (await api(`/jobs/${job}/status`))?.['sume_status'];
      if (typeof state !== 'string') return;
      const output = state === 'completed' ? await api(`/jobs/${job}/result`) : null;
      // Without its result a completed job waits for the next look.
      if (state === 'completed' && output === null) return;
      await inTransaction(ports, async (client) => {
        await client.query('select pg_advisory_xact_lock(hashtext($1))', [job]);
        await write(ports, client, job, state, output?.['result'] ?? output);
      });
    };
    return {
      submit: async ({ key, model, input }) => {
        const answer = await fetch(`${sume.baseUrl}/models/${model}/runs`, {
          method: 'POST',
          headers: {
            ...authorization(ports),
            'content-type': 'application/json',
            'idempotency-key': key,
          },
          body: JSON.stringify({ ...input, mode: 'webhook', webhook_url: sume.webhookUrl }),
        });
        if (answer.status !== 202) throw new Error(`Sume answered ${answer.status}`);
        const { data } = (await answer.json()) as { data: { request_id: string } };
        await register(ports, data.request_id);
        return data.request_id;
      },
      handleWebhook: (request) => app.fetch(request),
      poll,
      sweep: async () => {
        const { rows } = await pool.query<{ sume_job: string }>(
          `select sume_job from videos where state in ('queued', 'processing') and touched_at < $1 order by id`,
          [new Date(clock.now() - patience.staleAfterMs)],
        );
        for (const { sume_job } of rows) await poll(sume_job).catch(() => {});
      },
    };
  },

  readJob: async (job, { pool }) => {
    const { rows } = await pool.query<{ status: string; result: unknown }>(
      'select state as status, output as result from videos where sume_job = $1',
      [job],
    );
    return rows[0];
  },
  readParked: async (job, { pool }) => {
    const { rows } = await pool.query<{ status: string }>(
      'select state as status from early_events where sume_job = $1',
      [job],
    );
    return rows[0];
  },
  readEffects: async (job, { pool }) => {
    const { rows } = await pool.query<{ count: string }>(
      'select count(*) from mails join videos on videos.id = video_id where sume_job = $1',
      [job],
    );
    return rows[0]?.count ?? 0;
  },
};

const STATES: Readonly<Record<string, string>> = {
  'job.completed': 'completed',
  'job.failed': 'failed',
  'job.canceled': 'canceled',
};

function webhookApp(ports: TestPorts): Hono {
  const app = new Hono();
  // Hono's own handler prints what the schedule breaks on purpose.
  app.onError((_error, c) => c.body(null, 503));
  app.post('/webhooks/sume', async (c) => {
    const body = await c.req.text();
    if (
      !isSigned(
        ports,
        c.req.header('x-sume-signature') ?? '',
        c.req.header('x-sume-timestamp') ?? '',
        body,
      )
    ) {
      return c.json({ error: 'signature' }, 401);
    }
    const event = JSON.parse(body) as {
      event: string;
      job_id: string;
      payload?: Record<string, unknown>;
    };
    const state = STATES[event.event];
    if (state === undefined) return c.body(null, 204);
    const output = state === 'completed' ? (event.payload ?? null) : null;
    await inTransaction(ports, async (client) => {
      await client.query('select pg_advisory_xact_lock(hashtext($1))', [event.job_id]);
      if (await write(ports, client, event.job_id, state, output)) return;
      await client.query(
        `insert into early_events (sume_job, state, output) values ($1, $2, $3)
         on conflict (sume_job) do nothing`,
        [event.job_id, state, output],
      );
    });
    return c.body(null, 200);
  });
  return app;
}

/** Makes the row, and gives it the event that came before it. */
async function register(ports: TestPorts, job: string): Promise<void> {
  await inTransaction(ports, async (client) => {
    await client.query('select pg_advisory_xact_lock(hashtext($1))', [job]);
    await client.query(
      'insert into videos (sume_job, touched_at) values ($1, $2) on conflict (sume_job) do nothing',
      [job, new Date(ports.clock.now())],
    );
    const { rows } = await client.query<{ state: string; output: unknown }>(
      'delete from early_events where sume_job = $1 returning state, output',
      [job],
    );
    const [early] = rows;
    if (early !== undefined) await write(ports, client, job, early.state, early.output);
  });
}

/** Moves the row forward, and mails once when that ends it. False if there is no row. */
async function write(
  { clock }: TestPorts,
  client: PoolClient,
  job: string,
  state: string,
  output: unknown,
): Promise<boolean> {
  const { rows } = await client.query<{ id: string }>(
    `update videos set state = $2::text, output = $3, touched_at = $4
     where sume_job = $1 and state in ('queued', 'processing')
       and not (state = 'processing' and $2::text = 'queued')
     returning id`,
    [
      job,
      state,
      output === null || output === undefined ? null : JSON.stringify(output),
      new Date(clock.now()),
    ],
  );
  const [row] = rows;
  if (row === undefined) {
    const known = await client.query('select 1 from videos where sume_job = $1', [job]);
    return known.rowCount === 1;
  }
  if (!['queued', 'processing'].includes(state)) {
    await client.query('insert into mails (video_id, state) values ($1, $2)', [row.id, state]);
  }
  return true;
}

async function inTransaction(
  { pool }: TestPorts,
  work: (client: PoolClient) => Promise<void>,
): Promise<void> {
  const client = await pool.connect();
  try {
    await client.query('begin');
    await work(client);
    await client.query('commit');
  } catch (error) {
    await client.query('rollback').catch(() => {});
    throw error;
  } finally {
    client.release();
  }
}

function authorization({ sume }: TestPorts): Record<string, string> {
  return { authorization: `Bearer ${sume.apiKey}` };
}

function isSigned({ sume, clock }: TestPorts, given: string, at: string, body: string): boolean {
  if (Math.abs(clock.now() / 1000 - Number(at)) > 300) return false;
  return sume.secrets.some((secret) => {
    const expected = createHmac('sha256', secret).update(`${at}.${body}`).digest();
    return given.split(',').some((one) => {
      const bytes = Buffer.from(one.replace(/^v1=/, '').trim(), 'hex');
      return bytes.length === expected.length && timingSafeEqual(bytes, expected);
    });
  });
}
