import type { IntegrationUnderTest, TestPorts } from '../../sim/testing/index.ts';

/** Writes whatever it hears last, in a table of its own. Parts of it are replaced by the tests. */
export function naive(parts: Partial<IntegrationUnderTest> = {}): IntegrationUnderTest {
  return {
    setup: async ({ pool }) => {
      await pool.query(`
        create table orders (id serial primary key);
        create table videos (job text primary key, state text not null, id int references orders);
      `);
    },
    start: naiveHandlers,
    readJob: async (job, { pool }) => {
      const { rows } = await pool.query<{ status: string }>(
        'select state as status from videos where job = $1',
        [job],
      );
      return rows[0];
    },
    ...parts,
  };
}

/** Only an end overwrites what is there: with it, no order of `stale-poll` goes wrong. */
export const ONLY_ENDS = `where excluded.state not in ('queued', 'processing')`;

/** @param which of the rows that are there it overwrites, as a where clause; every one if it is left out. */
export function naiveHandlers(
  { pool, fetch, sume }: TestPorts,
  which = '',
): ReturnType<IntegrationUnderTest['start']> & {
  poll: (job: string) => Promise<void>;
} {
  const headers = { authorization: `Bearer ${sume.apiKey}`, 'content-type': 'application/json' };
  const write = async (job: string, state: string): Promise<void> => {
    await pool.query(
      `with new_order as (insert into orders default values returning id)
       insert into videos select $1, $2, id from new_order on conflict (job) do update set state = excluded.state ${which}`,
      [job, state],
    );
  };
  return {
    submit: async ({ key, model, input }) => {
      const answer = await fetch(`${sume.baseUrl}/models/${model}/runs`, {
        method: 'POST',
        headers: { ...headers, 'idempotency-key': key },
        body: JSON.stringify({ ...input, mode: 'webhook', webhook_url: sume.webhookUrl }),
      });
      const { data } = (await answer.json()) as { data: { request_id: string } };
      await write(data.request_id, 'queued');
    },
    handleWebhook: async (request) => {
      const { event, job_id: job } = (await request.json()) as { event: string; job_id: string };
      await write(job, event.replace('job.', ''));
      return new Response(null, { status: 204 });
    },
    poll: async (job) => {
      const answer = await fetch(`${sume.baseUrl}/jobs/${job}/status`, { headers });
      const { data } = (await answer.json()) as { data: { sume_status: string } };
      await write(job, data.sume_status);
    },
  };
}
