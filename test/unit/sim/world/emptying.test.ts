import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createEmptying } from '../../../../sim/world/emptying.ts';
import { sessionOf, type Session } from '../../../../sim/world/session.ts';
import { sharedPglite } from '../../../setup/databases.ts';

/** As many as pass from one checkpoint to the next. */
const SCHEDULES = 500;

describe('emptying tables before each schedule', () => {
  let session: Session;
  let empty: () => void;
  const one = (sql: string): unknown =>
    Object.values(session.run(sql, [], () => {}).rows[0] ?? {})[0];
  const writeAndEmpty = (): void => {
    session.execute(
      `insert into owners values ('a');
       insert into things select n, 'a', repeat('x', 1500) from generate_series(1, 20) as n;`,
    );
    empty();
  };
  beforeAll(async () => {
    session = sessionOf(await sharedPglite());
    session.execute('create schema emptying');
    session.enter('emptying');
    session.execute(
      `create table owners (id text primary key);
       create table things (id text primary key, owner text not null references owners, text text);
       create sequence numbers;
       create function refuse() returns trigger language plpgsql as $$ begin raise 'No.'; end $$;
       create trigger refuse before delete on things for each row execute function refuse();
       create trigger refuse_all before truncate on things execute function refuse();`,
    );
    empty = createEmptying(session, ['owners', 'things'], [`select setval('numbers', 1, false);`]);
  });
  afterAll(() => {
    session.execute('drop schema emptying cascade');
  });

  test('minds neither foreign keys nor triggers, and each schedule finds the same', () => {
    for (let schedule = 0; schedule < SCHEDULES; schedule += 1) {
      writeAndEmpty();
      const found = session.run(
        `select (select count(*) from owners)::int as owners, (select count(*) from things)::int as things,
                nextval('numbers')::int as next, current_setting('session_replication_role') as role`,
        [],
        () => {},
      ).rows;
      expect(found).toEqual([{ owners: 0, things: 0, next: 1, role: 'origin' }]);
    }
  });

  test('takes no more memory after many schedules than after some', () => {
    const size = (): unknown =>
      one(`select sum(size) + pg_total_relation_size('things') from pg_ls_waldir()`);
    const sizes: unknown[] = [];
    for (let round = 0; round < 4; round += 1) {
      for (let schedule = 0; schedule < SCHEDULES; schedule += 1) writeAndEmpty();
      sizes.push(size());
    }
    expect(sizes.slice(2)).toEqual([sizes[1], sizes[1]]);
  });
});
