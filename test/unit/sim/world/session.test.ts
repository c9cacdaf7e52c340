import { describe, expect, test } from 'vitest';
import { sessionOf } from '../../../../sim/world/session.ts';
import { sharedPglite } from '../../../setup/databases.ts';

/** A parameter of a type, as code may give it. */
const PARAMETERS: readonly (readonly [type: string, value: unknown])[] = [
  ['text', 'a "quoted" \\ {word}'],
  ['text', null],
  ['int4', 7],
  ['int8', 9_007_199_254_740_992],
  ['float8', 1.5],
  ['bool', true],
  ['timestamptz', new Date(0)],
  ['jsonb', { a: [1, 'two', null] }],
  ['jsonb', [1, 2]],
  ['text[]', ['a', 'b c', '', 'NULL', '"', '\\', '{}', 'a,b']],
  ['text[]', []],
  ['text[]', [null, 'a']],
  ['int4[]', [1, 2, 3]],
  [
    'int4[]',
    [
      [1, 2],
      [3, 4],
    ],
  ],
  ['bool[]', [true, false]],
  ['uuid[]', ['00000000-0000-4000-8000-000000000001']],
  ['timestamptz[]', [new Date(0)]],
];

describe('a statement in a simulation', () => {
  test.each(PARAMETERS)('reads and writes %s (%o) as PGlite itself does', async (type, value) => {
    const database = await sharedPglite();
    // The array types of a new database are known to PGlite only once it has looked.
    await database.refreshArrayTypes();
    const sql = `select $1::${type} as value`;
    const { rows } = await database.query(sql, [value]);
    expect(sessionOf(database).run(sql, [value], () => {}).rows).toEqual(rows);
  });

  test('finds the rows of a list of ids', async () => {
    const sql = 'select count(*)::int as count from unnest($1::text[]) id where id = any($2)';
    const session = sessionOf(await sharedPglite());
    expect(
      session.run(
        sql,
        [
          ['a', 'b', 'c'],
          ['a', 'c', 'd'],
        ],
        () => {},
      ).rows,
    ).toEqual([{ count: 2 }]);
  });
});
