import type { Pool, PoolClient } from 'pg';
import type { Contender } from './load.ts';

/**
 * The two-table pattern as it is usually written down: in one transaction each, look for the job, else
 * park the event; insert the job, then look for a parked event. Nothing makes the two sides wait for each
 * other, so each may look before the other has committed, and then the event stays parked beside its job.
 *
 * It is here to be caught. Everything else about it is sound (guarded updates, first event kept), so that
 * what the judge finds is this fault and no other.
 */
export async function createLookThenPark(pool: Pool): Promise<Contender> {
  await pool.query(`
    create table sume_jobs (job_id text primary key, status text not null, rank int not null, body text);
    create table sume_parked (job_id text primary key, status text not null, body text not null);
  `);
  const update = async (
    client: PoolClient,
    jobId: string,
    status: string,
    rank: number,
    body: string | null,
  ): Promise<boolean> => {
    const { rowCount } = await client.query(
      'update sume_jobs set status = $2, rank = $3, body = $4 where job_id = $1 and rank < $3',
      [jobId, status, rank, body],
    );
    if (rowCount === 1 && rank === 2) {
      await client.query('insert into effects (job_id) values ($1)', [jobId]);
    }
    return rowCount === 1;
  };
  return {
    register: ({ id }) =>
      inTransaction(pool, async (client) => {
        await client.query(
          "insert into sume_jobs values ($1, 'queued', 0, null) on conflict (job_id) do nothing",
          [id],
        );
        const { rows } = await client.query<{ status: string; body: string }>(
          'delete from sume_parked where job_id = $1 returning status, body',
          [id],
        );
        const [parked] = rows;
        if (!parked) return 'registered';
        await update(client, id, parked.status, 2, parked.body);
        return 'reconciled';
      }),
    receive: ({ id, status, event }) =>
      inTransaction(pool, async (client) => {
        const { rows } = await client.query('select 1 from sume_jobs where job_id = $1', [id]);
        if (rows.length > 0) {
          return (await update(client, id, status, 2, event.body)) ? 'applied' : 'duplicate';
        }
        await client.query('insert into sume_parked values ($1, $2, $3) on conflict do nothing', [
          id,
          status,
          event.body,
        ]);
        return 'parked';
      }),
    advance: ({ id }, status) =>
      inTransaction(pool, async (client) =>
        (await update(client, id, status, status === 'processing' ? 1 : 2, null))
          ? 'applied'
          : 'stale',
      ),
  };
}

async function inTransaction<T>(pool: Pool, work: (client: PoolClient) => Promise<T>): Promise<T> {
  const client = await pool.connect();
  try {
    await client.query('begin');
    const outcome = await work(client);
    await client.query('commit');
    client.release();
    return outcome;
  } catch (error) {
    client.release(true); // closing the connection rolls back
    throw error;
  }
}
