import type { Queryable } from './database.ts';

/** Runs work inside a transaction that is not ours to roll back: when it rejects, what it wrote is undone. */
export async function inSavepoint<T>(tx: Queryable, work: () => Promise<T>): Promise<T> {
  await tx.query('savepoint sume_register');
  let value: T;
  try {
    value = await work();
  } catch (error) {
    await tx.query('rollback to savepoint sume_register').catch(() => {
      // The connection is gone, and the whole transaction with it; the first error says why.
    });
    throw error;
  }
  await tx.query('release savepoint sume_register');
  return value;
}
