import { expect, it } from 'vitest';
import { describePostgres, openPostgres } from '../setup/databases.ts';

describePostgres('the PostgreSQL server of a test run', () => {
  it('gives each suite a schema of its own, and takes it away', async () => {
    const one = await openPostgres();
    const other = await openPostgres();
    await one.pool.query('create table mine (a int)');
    await expect(other.pool.query('select * from mine')).rejects.toMatchObject({ code: '42P01' });
    await one.close();
    const left = await other.pool.query('select 1 from pg_namespace where nspname = $1', [
      one.schema,
    ]);
    expect(left.rows).toEqual([]);
    await other.close();
  });

  it('opens sessions with the settings that a suite asks for, spaces and all', async () => {
    const { pool, close } = await openPostgres({
      settings: ['default_transaction_isolation=repeatable read'],
    });
    const { rows } = await pool.query('select current_setting($1) as level', [
      'transaction_isolation',
    ]);
    expect(rows).toEqual([{ level: 'repeatable read' }]);
    await close();
  });
});
