import { describe, expect, test } from 'vitest';
import { InputError } from '../../src/errors.ts';
import { migrate } from '../../src/schema.ts';
import type { Subject } from './subject.ts';

/** What must hold for the tables, on any database. */
export function migrateContract(subject: Subject): void {
  const drop = async (prefix: string): Promise<void> => {
    for (const table of ['jobs', 'parked', 'migrations']) {
      await subject.database.query(`drop table ${prefix}${table}`);
    }
  };

  describe('creating the tables', () => {
    test('many at once make them once, and any number may follow', async () => {
      const prefix = `${subject.prefix}many_`;
      await Promise.all(Array.from({ length: 8 }, () => migrate(subject.database, { prefix })));
      await migrate(subject.database, { prefix });
      const { rows } = await subject.database.query(`select version from ${prefix}migrations`);
      expect(rows).toEqual([{ version: 1 }]);
      await drop(prefix);
    });

    test('many at once make them without advisory locks too', async () => {
      const prefix = `${subject.prefix}bare_`;
      /** As a database answers that has no such function. */
      const withoutLocks: typeof subject.database = {
        query: (sql, params) => subject.database.query(sql, params),
        transaction: (work, options) =>
          subject.database.transaction(
            (tx) =>
              work({
                query: (sql, params) =>
                  tx.query(sql.replace('pg_advisory_xact_lock', 'pg_no_such_lock'), params),
              }),
            options,
          ),
        ...(subject.database.pinsIsolation === true ? { pinsIsolation: true as const } : {}),
      };
      await Promise.all(Array.from({ length: 8 }, () => migrate(withoutLocks, { prefix })));
      const { rows } = await subject.database.query(`select version from ${prefix}migrations`);
      expect(rows).toEqual([{ version: 1 }]);
      await drop(prefix);
    });

    test('what is there stays', async () => {
      await subject.reconciler().register('job_1');
      await migrate(subject.database, { prefix: subject.prefix });
      expect(await subject.rows('jobs')).toHaveLength(1);
    });

    test.each(['', 'Sume_', '1st_', 'a-b', 'x; drop table y; --', 'ümlaut_', 'p'.repeat(33)])(
      'the prefix %j is refused',
      async (prefix) => {
        await expect(migrate(subject.database, { prefix })).rejects.toBeInstanceOf(InputError);
        expect(() => subject.reconciler({ prefix })).toThrow(InputError);
      },
    );

    test('the longest prefix does for every name', async () => {
      const prefix = `${subject.prefix}${'p'.repeat(32 - subject.prefix.length)}`;
      await migrate(subject.database, { prefix });
      expect(await subject.reconciler({ prefix }).register('job_1')).toBe('registered');
      const { rows } = await subject.database.query<{ name: string }>(
        `select indexname as name from pg_indexes where tablename = $1 order by indexname`,
        [`${prefix}jobs`],
      );
      expect(rows.map((row) => row.name.slice(prefix.length))).toEqual([
        'jobs_correlation_id',
        'jobs_no_result',
        'jobs_open',
        'jobs_pkey',
      ]);
      await drop(prefix);
    });
  });
}
