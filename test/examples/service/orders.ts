import type PgBoss from 'pg-boss';
import type { Clock, Database, Queryable } from '../../../src/index.ts';

/** What Sume is asked to do for an order. */
export interface OrderRequest {
  model: string;
  input: Record<string, unknown>;
  webhookUrl: string;
}

export interface Order {
  orderId: string;
  request: OrderRequest;
  /** Null until Sume has answered, and the job is registered. */
  jobId: string | null;
  /** Why Sume will never do it. */
  refusal: string | null;
}

/** `known`: placed before. `other`: placed before, and asking for something else. */
export type Placed = 'new' | 'known' | 'other';

/** The orders of this service. */
export interface Orders {
  /**
   * Writes the order down together with the work of submitting it, in one transaction: from then on it will be
   * submitted whatever becomes of this process. Sume is not asked here.
   */
  place(orderId: string, request: OrderRequest): Promise<Placed>;
  read(orderId: string): Promise<Order | null>;
  /** Notes the job of an order, in the transaction that registers the job. */
  noteJob(tx: Queryable, orderId: string, jobId: string): Promise<void>;
  refuse(orderId: string, refusal: string): Promise<void>;
}

export const SUBMIT_QUEUE = 'submit';

/** The work of submitting one order. */
export interface SubmitWork {
  orderId: string;
}

export function createOrders(parts: { database: Database; boss: PgBoss; clock: Clock }): Orders {
  const { database, boss, clock } = parts;
  return {
    place: (orderId, request) =>
      database.transaction(async (tx) => {
        const { rows } = await tx.query(
          `insert into orders (order_id, request, placed_at) values ($1, $2::text::jsonb, $3)
           on conflict (order_id) do nothing returning order_id`,
          [orderId, JSON.stringify(request), new Date(clock.now())],
        );
        if (rows.length > 0) {
          const work: SubmitWork = { orderId };
          await boss.send(SUBMIT_QUEUE, work, {
            db: { executeSql: (text, values) => tx.query(text, values) },
          });
          return 'new';
        }
        const { rows: earlier } = await tx.query<{ same: boolean }>(
          // Where the webhook goes is this service's affair: a second process may have another address.
          `select request - 'webhookUrl' = $2::text::jsonb - 'webhookUrl' as same
           from orders where order_id = $1`,
          [orderId, JSON.stringify(request)],
        );
        return earlier[0]?.same === true ? 'known' : 'other';
      }),
    read: async (orderId) => {
      const { rows } = await database.query<{
        request: OrderRequest;
        job_id: string | null;
        refusal: string | null;
      }>('select request, job_id, refusal from orders where order_id = $1', [orderId]);
      const [row] = rows;
      if (row === undefined) return null;
      return { orderId, request: row.request, jobId: row.job_id, refusal: row.refusal };
    },
    noteJob: async (tx, orderId, jobId) => {
      await tx.query('update orders set job_id = $2 where order_id = $1', [orderId, jobId]);
    },
    refuse: async (orderId, refusal) => {
      await database.query('update orders set refusal = $2 where order_id = $1', [
        orderId,
        refusal,
      ]);
    },
  };
}
