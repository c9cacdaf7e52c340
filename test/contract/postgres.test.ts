import { postgresDatabase } from '../../src/postgres.ts';
import { describePostgres, openPostgres } from '../setup/databases.ts';
import { advanceContract } from './advance-contract.ts';
import { hookContract } from './hook-contract.ts';
import { orderContract } from './order-contract.ts';
import { receiveContract } from './receive-contract.ts';
import { reconcilerContract } from './reconciler-contract.ts';
import { useSubject, type OpenDatabase } from './subject.ts';

const opening =
  (settings: string[] = []) =>
  async (): Promise<OpenDatabase> => {
    const { pool, close } = await openPostgres({ settings });
    return { database: postgresDatabase(pool), close };
  };

describePostgres('the core on PostgreSQL through node-postgres', () => {
  reconcilerContract(opening());
});

describePostgres('the core on PostgreSQL, where sessions begin at repeatable read', () => {
  orderContract(useSubject(opening(['default_transaction_isolation=repeatable read'])));
});

describePostgres('the core on PostgreSQL, serializable and without locks', () => {
  const subject = useSubject(opening(), { concurrency: 'serializable' });
  receiveContract(subject);
  advanceContract(subject);
  hookContract(subject);
  orderContract(subject);
});
