import type { IntegrationUnderTest } from '../../sim/testing/index.ts';
import { naive, naiveHandlers, ONLY_ENDS } from './naive.ts';

/** Passes in every order of `stale-poll`. For the command line: `--integration test/kit/only-ends-file.ts`. */
export const integration: IntegrationUnderTest = naive({
  start: (ports) => naiveHandlers(ports, ONLY_ENDS),
});
