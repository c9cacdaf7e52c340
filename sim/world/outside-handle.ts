import type { DatabaseHandle } from './integration.ts';
import { plainDatabase } from './plain-database.ts';
import { createPool } from './pool.ts';
import { parsedRows, type Session } from './session.ts';

/** The handle for making tables and reading rows was used by code that should go through the ports. */
export class HandleClosedError extends Error {
  override readonly name = 'HandleClosedError';
  readonly code = 'handle_closed';

  constructor() {
    super(
      'The database handle of setup and of the readers was used outside them, where the simulator could neither ' +
        'order nor see what is done. In start() use ports.database or ports.pool.',
    );
  }
}

/** A database outside the ports, which works only while `during` has it open. */
export interface OutsideHandle {
  readonly database: Required<DatabaseHandle>;
  during<T>(work: () => Promise<T>): Promise<T>;
}

export function createOutsideHandle(session: Session): OutsideHandle {
  let isOpen = false;
  const opened = (): void => {
    if (!isOpen) throw new HandleClosedError();
  };
  const plain = plainDatabase(session);
  const nothing = (): void => {};
  return {
    database: {
      pinsIsolation: true,
      query: async (sql, params = []) => {
        opened();
        if (params.length > 0) return plain.query(sql, params);
        // Without parameters it may be a script of many statements, as a schema often is.
        const result = session.sendScript(sql, nothing);
        return { rows: parsedRows(result), affectedRows: result.affectedRows };
      },
      transaction: async (work, options) => {
        opened();
        return plain.transaction(work, options);
      },
      pool: createPool(() => async (sql, texts) => {
        opened();
        return texts.length === 0
          ? session.sendScript(sql, nothing)
          : session.send(sql, texts, nothing);
      }),
    },
    during: async (work) => {
      isOpen = true;
      try {
        return await work();
      } finally {
        isOpen = false;
      }
    },
  };
}
