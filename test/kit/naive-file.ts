import type { IntegrationUnderTest } from '../../sim/testing/index.ts';
import { naive } from './naive.ts';

/** For the command line: `--integration test/kit/naive-file.ts`. */
export const integration: IntegrationUnderTest = naive();
