import { afterEach, expect, it } from 'vitest';
import { postgresTransaction } from '../../src/index.ts';
import { describePostgres } from '../setup/databases.ts';
import { openService, type Service } from './service.ts';

const EVENT = { event: 'job.completed', job_id: 'job_1', payload: { artifacts: [] } };

describePostgres('a webhook that finds its job locked', () => {
  let service: Service | undefined;
  afterEach(async () => {
    await service?.close();
    service = undefined;
  });

  it.for([
    { mode: 'with locks', options: { concurrency: 'locks' } },
    { mode: 'serializable', options: { concurrency: 'serializable' } },
    { mode: 'with a hook', options: { onTerminal: () => undefined } },
  ] as const)(
    'does not wait for the row beyond the limit: 503 now, 200 later ($mode)',
    async ({ options }) => {
      service = await openService({ ...options, lockTimeoutMs: 100 });
      await service.reconciler.register('job_1');
      const { client } = await service.outsider();
      await client.query('begin');
      await client.query("select 1 from sume_jobs where job_id = 'job_1' for update");

      const refused = await service.deliver(EVENT);
      expect(refused.status).toBe(503);
      expect(refused.headers.get('retry-after')).toBe('30');
      expect(service.failures).toMatchObject([{ code: '55P03' }]);
      await client.query('rollback');
      expect((await service.deliver(EVENT)).status).toBe(200);
    },
  );

  it('does not wait for an open registration beyond the limit either', async () => {
    service = await openService({ lockTimeoutMs: 100 });
    const { client } = await service.outsider();
    await client.query('begin');
    await service.reconciler.register('job_1', {}, postgresTransaction(client));

    expect((await service.deliver(EVENT)).status).toBe(503);
    expect(service.failures).toMatchObject([{ code: '55P03' }]);
    await client.query('commit');
    expect((await service.deliver(EVENT)).status).toBe(200);
    expect(await service.reconciler.job('job_1')).toMatchObject({ status: 'completed' });
  });
});
