import { describe } from 'vitest';
import { sharedPglite } from '../setup/databases.ts';
import { reconcilerContract } from './reconciler-contract.ts';

describe('the core on PGlite', () => {
  reconcilerContract(async () => ({
    database: await sharedPglite(),
    close: () => Promise.resolve(),
  }));
});
