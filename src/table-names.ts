import { InputError } from './errors.ts';

/** The names of the core's tables, all with one prefix. */
export interface TableNames {
  jobs: string;
  parked: string;
  migrations: string;
}

export const DEFAULT_PREFIX = 'sume_';

/** Leaves room for the longest suffix in PostgreSQL's 63 bytes, so that no name is cut short. */
const MAX_PREFIX_LENGTH = 32;

/**
 * The table names for a prefix (default `sume_`). The prefix goes into SQL as it is, so only lower-case
 * letters, digits and underscores are taken; anything else is an `InputError`.
 */
export function tableNames(prefix: string = DEFAULT_PREFIX): TableNames {
  if (
    typeof prefix !== 'string' ||
    !/^[a-z_][a-z0-9_]*$/.test(prefix) ||
    prefix.length > MAX_PREFIX_LENGTH
  ) {
    throw new InputError(
      `The table prefix ${JSON.stringify(prefix)} cannot begin an SQL name. Use 1 to ${MAX_PREFIX_LENGTH} ` +
        'lower-case letters, digits and underscores, not starting with a digit. For another schema, set ' +
        'the search_path of the connection.',
    );
  }
  return { jobs: `${prefix}jobs`, parked: `${prefix}parked`, migrations: `${prefix}migrations` };
}
