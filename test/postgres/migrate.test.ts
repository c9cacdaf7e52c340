import { execFile } from 'node:child_process';
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { expect, it, onTestFinished } from 'vitest';
import { createReconciler, migrate, postgresDatabase } from '../../src/index.ts';
import { describePostgres, openPostgres } from '../setup/databases.ts';

describePostgres('migrations that start together', () => {
  it('all succeed from many connections, whatever the level of their sessions', async () => {
    for (const level of ['read committed', 'repeatable read', 'serializable']) {
      const { pool, close } = await openPostgres({
        connections: 16,
        settings: [`default_transaction_isolation=${level}`],
      });
      onTestFinished(close);
      const database = postgresDatabase(pool);
      await Promise.all(Array.from({ length: 16 }, () => migrate(database)));
      await works(database);
    }
  });

  it('all succeed from many processes', async () => {
    const { pool, url, close } = await openPostgres();
    onTestFinished(close);
    const tsx = pathToFileURL(createRequire(import.meta.url).resolve('tsx')).href;
    const core = new URL('../../src/index.ts', import.meta.url).href;
    const program = `
      import { Pool } from 'pg';
      import { migrate, postgresDatabase } from '${core}';
      const pool = new Pool({ connectionString: process.argv[1] });
      await migrate(postgresDatabase(pool));
      await pool.end();
    `;
    const flags = ['--import', tsx, '--input-type=module', '--eval', program, url];
    const run = promisify(execFile);
    await Promise.all(Array.from({ length: 4 }, () => run(process.execPath, flags)));
    await works(postgresDatabase(pool));
  });

  it('change nothing in tables that are in use', async () => {
    const { pool, close } = await openPostgres();
    onTestFinished(close);
    const database = postgresDatabase(pool);
    await migrate(database);
    await works(database);
    await migrate(database);
    const { rows } = await pool.query('select job_id, status from sume_jobs');
    expect(rows).toEqual([{ job_id: 'job_1', status: 'completed' }]);
  });

  it('keep apart under prefixes of their own', async () => {
    const { pool, close } = await openPostgres();
    onTestFinished(close);
    const database = postgresDatabase(pool);
    await Promise.all(['a_', 'b_'].map((prefix) => migrate(database, { prefix })));
    await createReconciler({ database, prefix: 'a_' }).register('job_1');
    expect(await createReconciler({ database, prefix: 'b_' }).register('job_1')).toBe('registered');
    const { rows } = await pool.query(
      'select job_id from a_jobs union all select job_id from b_jobs',
    );
    expect(rows).toHaveLength(2);
  });
});

async function works(database: ReturnType<typeof postgresDatabase>): Promise<void> {
  const reconciler = createReconciler({ database });
  await reconciler.receive({
    event: 'job.completed',
    jobId: 'job_1',
    status: 'completed',
    body: '{"event":"job.completed","job_id":"job_1"}',
  });
  expect(await reconciler.register('job_1')).toBe('reconciled');
}
