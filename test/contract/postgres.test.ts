import { postgresDatabase } from '../../src/postgres.ts';
import { describePostgres, openPostgres } from '../setup/databases.ts';
import { reconcilerContract } from './reconciler-contract.ts';

describePostgres('the core on PostgreSQL through node-postgres', () => {
  reconcilerContract(async () => {
    const { pool, close } = await openPostgres();
    return { database: postgresDatabase(pool), close };
  });
});
