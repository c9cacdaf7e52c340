import type { IntegrationUnderTest } from '../../sim/testing/index.ts';
import { naive, naiveHandlers } from './naive.ts';

/** Calls the global fetch, and says so. For the command line: `--integration test/kit/global-fetch-file.ts`. */
export const integration: IntegrationUnderTest = naive({
  fetch: 'global',
  start: (ports) =>
    naiveHandlers({ ...ports, fetch: (input, init) => globalThis.fetch(input, init) }),
});
