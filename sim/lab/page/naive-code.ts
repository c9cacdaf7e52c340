/** What the text field begins with: the naive integration, in as few lines as it takes. */
export const NAIVE_CODE = `const integration = {
  tables: { jobs: 'jobs', parked: null, effects: null },

  async setup(database) {
    await database.query(
      'create table if not exists jobs (job_id text primary key, status text, result jsonb)');
  },

  start({ database, fetch, clock, sume }) {
    const headers = { authorization: 'Bearer ' + sume.apiKey };
    const write = (jobId, status, result = null) =>
      database.query(
        \`insert into jobs (job_id, status, result) values ($1, $2, $3)
         on conflict (job_id) do update
         set status = excluded.status, result = coalesce(excluded.result, jobs.result)\`,
        [jobId, status, result]);

    return {
      async submit({ key, model, input }) {
        const answer = await fetch(sume.baseUrl + '/models/' + model + '/runs', {
          method: 'POST',
          headers: { ...headers, 'idempotency-key': key, 'content-type': 'application/json' },
          body: JSON.stringify({ ...input, mode: 'webhook', webhook_url: sume.webhookUrl }),
        });
        const { data } = await answer.json();
        await write(data.request_id, 'queued');
        return data.request_id;
      },

      async handleWebhook(request) {
        const { event, job_id, payload } = await request.json();
        await write(job_id, event.replace('job.', ''), payload);
        return new Response(null, { status: 204 });
      },

      async poll(jobId) {
        const answer = await fetch(sume.baseUrl + '/jobs/' + jobId + '/status', { headers });
        const { data } = await answer.json();
        await write(jobId, data.sume_status);
      },

      async sweep() {},
    };
  },
};
`;
