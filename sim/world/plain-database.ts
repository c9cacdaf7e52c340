import type { Database, Queryable } from '../../src/database.ts';
import type { Session } from './session.ts';

/** The session as a database that nothing watches. */
export function plainDatabase(session: Session): Database {
  const on: Queryable = { query: async (sql, params) => session.run(sql, params ?? [], () => {}) };
  return {
    ...on,
    pinsIsolation: true,
    transaction: async (work, { isolation } = {}) => {
      session.execute(isolation === undefined ? 'begin' : `begin isolation level ${isolation}`);
      try {
        const value = await work(on);
        session.execute('commit');
        return value;
      } catch (error) {
        session.execute('rollback');
        throw error;
      }
    },
  };
}
