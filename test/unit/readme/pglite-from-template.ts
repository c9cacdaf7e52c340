import { readFileSync } from 'node:fs';
import { PGlite as RealPGlite } from '@electric-sql/pglite';

/**
 * Stands in for PGlite where the README's code is run: the same database, begun from the dump that all tests
 * share, since making one from nothing takes seconds.
 */
export const PGlite: { create: () => Promise<RealPGlite> } = {
  create: () => {
    const dump = readFileSync(process.env['PGLITE_TEMPLATE'] ?? '');
    return RealPGlite.create({ loadDataDir: new Blob([dump]) });
  },
};
