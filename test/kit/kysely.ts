import { Kysely, PostgresDialect, sql, type Generated, type Transaction } from 'kysely';
import { createSumeClient, createWebhookHandler } from '../../src/index.ts';
import type { IntegrationUnderTest, Pool } from '../../sim/testing/index.ts';

interface Tables {
  render: {
    id: Generated<number>;
    job_id: string;
    status: string;
    result: string | null;
    changed_at: Date;
  };
  waiting_event: { job_id: string; status: string; result: string | null };
}

const OPEN = ['queued', 'processing'];

/** An example: Kysely on tables of its own. Sume's wire is left to the core's client and webhook handler. */
export const integration: IntegrationUnderTest = {
  name: 'kysely',

  setup: async ({ pool }) => {
    const db = kysely(pool);
    await db.schema
      .createTable('render')
      .addColumn('id', 'serial', (column) => column.primaryKey())
      .addColumn('job_id', 'text', (column) => column.notNull().unique())
      .addColumn('status', 'text', (column) => column.notNull())
      .addColumn('result', 'jsonb')
      .addColumn('changed_at', 'timestamptz', (column) => column.notNull())
      .execute();
    await db.schema
      .createTable('waiting_event')
      .addColumn('job_id', 'text', (column) => column.primaryKey())
      .addColumn('status', 'text', (column) => column.notNull())
      .addColumn('result', 'jsonb')
      .execute();
  },

  start: ({ pool, fetch, clock, sume, patience }) => {
    const db = kysely(pool);
    const client = createSumeClient({ apiKey: sume.apiKey, baseUrl: sume.baseUrl, fetch, clock });
    const now = (): Date => new Date(clock.now());
    /** One transaction at a time for each job. */
    const forJob = <T>(jobId: string, work: (tx: Transaction<Tables>) => Promise<T>): Promise<T> =>
      db.transaction().execute(async (tx) => {
        await sql`select pg_advisory_xact_lock(hashtext(${jobId}))`.execute(tx);
        return work(tx);
      });
    const advance = async (
      on: Transaction<Tables>,
      jobId: string,
      status: string,
      result: string | null,
    ): Promise<boolean> => {
      const { numUpdatedRows } = await on
        .updateTable('render')
        .set({ status, result, changed_at: now() })
        .where('job_id', '=', jobId)
        .where('status', 'in', status === 'queued' ? [] : OPEN)
        .executeTakeFirst();
      return numUpdatedRows > 0n;
    };
    const poll = async (jobId: string): Promise<void> => {
      const { status } = await client.status(jobId);
      if (status === null) return;
      const answer = status === 'completed' ? await client.result(jobId) : null;
      await forJob(jobId, (tx) => advance(tx, jobId, status, json(answer?.result)));
    };

    return {
      submit: async ({ key, model, input }) => {
        const { webhookUrl } = sume;
        const { jobId } = await client.submit({ model, input, idempotencyKey: key, webhookUrl });
        await forJob(jobId, async (tx) => {
          await tx
            .insertInto('render')
            .values({ job_id: jobId, status: 'queued', result: null, changed_at: now() })
            .onConflict((conflict) => conflict.doNothing())
            .execute();
          const waiting = await tx
            .deleteFrom('waiting_event')
            .where('job_id', '=', jobId)
            .returning(['status', 'result'])
            .executeTakeFirst();
          if (waiting !== undefined) {
            await advance(tx, jobId, waiting.status, json(waiting.result));
          }
        });
        return jobId;
      },

      handleWebhook: createWebhookHandler({
        secrets: sume.secrets,
        clock,
        onError: () => {},
        reconciler: {
          receive: ({ jobId, status, result }) =>
            forJob(jobId, async (tx) => {
              if (await advance(tx, jobId, status, json(result))) return 'applied';
              const known = await tx
                .selectFrom('render')
                .select('id')
                .where('job_id', '=', jobId)
                .executeTakeFirst();
              if (known !== undefined) return 'duplicate';
              await tx
                .insertInto('waiting_event')
                .values({ job_id: jobId, status, result: json(result) })
                .onConflict((conflict) => conflict.doNothing())
                .execute();
              return 'parked';
            }),
        },
      }),

      poll,

      sweep: async () => {
        const forgotten = await db
          .selectFrom('render')
          .select('job_id')
          .where('status', 'in', OPEN)
          .where('changed_at', '<', new Date(clock.now() - patience.staleAfterMs))
          .orderBy('id')
          .execute();
        for (const { job_id: jobId } of forgotten) await poll(jobId).catch(() => {});
      },
    };
  },

  readJob: (jobId, { pool }) =>
    kysely(pool)
      .selectFrom('render')
      .select(['status', 'result'])
      .where('job_id', '=', jobId)
      .executeTakeFirst(),
  readParked: (jobId, { pool }) =>
    kysely(pool)
      .selectFrom('waiting_event')
      .select('status')
      .where('job_id', '=', jobId)
      .executeTakeFirst(),
};

function kysely(pool: Pool): Kysely<Tables> {
  return new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) });
}

function json(value: unknown): string | null {
  return value === null || value === undefined ? null : JSON.stringify(value);
}
