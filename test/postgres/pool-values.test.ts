import { Pool as RealPool } from 'pg';
import { expect, test } from 'vitest';
import { createOutsideHandle } from '../../sim/world/outside-handle.ts';
import { sessionOf } from '../../sim/world/session.ts';
import { describePostgres, openPostgres, sharedPglite } from '../setup/databases.ts';

/** Every kind of value that code reads, and every kind that it gives. */
const READ = `select 1::int2 as i2, 2::int4 as i4, 9007199254740993::int8 as i8, 1.50::numeric as n, 0.1::float8 as f,
  true as b, 'a''b'::text as t, null::text as nothing, '{"a": [1, null]}'::jsonb as j, '[1]'::json as j2,
  '2026-01-02 03:04:05.678+00'::timestamptz as tz, '2026-01-02 03:04:05'::timestamp as ts, '2026-01-02'::date as d,
  '\\x00ff'::bytea as bytes, array[1, null, 3] as ints, array['a"b', 'c,d', null] as texts, '1 day 02:00'::interval as iv,
  '{{1,2},{3,4}}'::int[] as deep, '5b7c6d0e-0000-4000-8000-000000000001'::uuid as u`;

const GIVEN: unknown[] = [
  'text',
  42,
  9007199254740993n,
  true,
  null,
  undefined,
  new Date(Date.UTC(2026, 0, 2, 3, 4, 5, 678)),
  Buffer.from([0, 255]),
  ['a"b', null, 'c\\d'],
  [
    [1, 2],
    [3, 4],
  ],
  { a: [1, { b: 'ü' }] },
];
const ECHO = `select $1::text as a, $2::int as b, $3::int8 as c, $4::bool as d, $5::text as e, $6::text as f,
  $7::timestamptz as g, $7::text as g2, $8::bytea as h, $9::text[] as i, $10::int[] as j, $11::jsonb as k`;

describePostgres('values', () => {
  test('are read and written by the pool as by node-postgres', async () => {
    const { url, close } = await openPostgres();
    const real = new RealPool({ connectionString: url, max: 1 });
    try {
      const outside = createOutsideHandle(sessionOf(await sharedPglite()));
      const { pool } = outside.database;
      await outside.during(async () => {
        const statements = [
          { text: READ },
          { text: READ, rowMode: 'array' as const },
          { text: ECHO, values: GIVEN },
          { text: 'create temp table t (id int)' },
          { text: 'insert into t values ($1), ($2) returning id', values: [1, 2] },
          { text: 'delete from t' },
          { text: 'select id from t' },
        ];
        for (const statement of statements) {
          const wanted = await real.query(statement);
          const given = await pool.query(statement);
          expect(given.rows).toEqual(wanted.rows);
          expect([given.command, given.rowCount]).toEqual([wanted.command, wanted.rowCount]);
          expect(given.fields.map(({ name, dataTypeID }) => [name, dataTypeID])).toEqual(
            wanted.fields.map(({ name, dataTypeID }) => [name, dataTypeID]),
          );
        }
        await pool.query('drop table t');
      });
    } finally {
      await real.end();
      await close();
    }
  });
});
