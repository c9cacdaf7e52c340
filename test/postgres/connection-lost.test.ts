import { createServer, type AddressInfo } from 'node:net';
import { Pool } from 'pg';
import { afterEach, expect, it } from 'vitest';
import { postgresDatabase } from '../../src/index.ts';
import { describePostgres } from '../setup/databases.ts';
import { recordEffect } from './record-effect.ts';
import { openService, type Service } from './service.ts';

const EVENT = { event: 'job.completed', job_id: 'job_1', payload: { artifacts: [] } };

it('a connection that ends as it begins fails the call, not the process', async () => {
  // A server that is shut down under a new connection may greet it and send it away in one packet.
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.once('data', () => {
      socket.end(
        Buffer.concat([
          message('R', Buffer.from([0, 0, 0, 0])),
          message('Z', Buffer.from('I')),
          message('E', Buffer.from('SFATAL\0VFATAL\0C57P01\0Mterminating connection\0\0')),
        ]),
      );
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const pool = new Pool({ host: '127.0.0.1', port, user: 'nobody', ssl: false });
  pool.on('error', () => undefined);
  const database = postgresDatabase(pool);

  // An error event without a listener would be an uncaught exception, and fail the run.
  await expect(database.query('select 1')).rejects.toThrow();
  await expect(database.transaction((tx) => tx.query('select 1'))).rejects.toThrow();
  await pool.end();
  await new Promise((resolve) => server.close(resolve));
});

/** A message of PostgreSQL's protocol: its type, its length with the length field itself, its content. */
function message(type: string, content: Buffer): Buffer {
  const length = Buffer.alloc(4);
  length.writeInt32BE(content.length + 4);
  return Buffer.concat([Buffer.from(type), length, content]);
}

describePostgres('a connection that is lost in the middle of a transaction', () => {
  let service: Service | undefined;
  afterEach(async () => {
    await service?.close();
    service = undefined;
  });

  it('fails that delivery alone: 503, nothing written, and the next one lands once', async () => {
    let losses = 1;
    service = await openService({
      onTerminal: async (job, tx) => {
        await recordEffect(job, tx);
        if (losses === 0) return;
        losses -= 1;
        const { rows } = await tx.query<{ pid: number }>('select pg_backend_pid() as pid');
        // No statement is under way on the connection when it goes: nobody awaits the news of its end.
        await outsider.client.query('select pg_terminate_backend($1, 5000)', [rows[0]?.pid]);
      },
    });
    const { pool, reconciler } = service;
    const outsider = await service.outsider();
    await pool.query('create table effects (job_id text not null)');
    await reconciler.register('job_1');

    expect((await service.deliver(EVENT)).status).toBe(503);
    expect(await reconciler.job('job_1')).toMatchObject({ status: 'queued' });
    expect((await service.deliver(EVENT)).status).toBe(200);
    expect(await reconciler.job('job_1')).toMatchObject({ status: 'completed' });
    expect((await pool.query('select job_id from effects')).rows).toEqual([{ job_id: 'job_1' }]);
  });
});
