import type { IntegrationUnderTest } from '../../sim/testing/index.ts';
import { naive, naiveHandlers } from './naive.ts';

/** Outlives every schedule, as a module's variables do. */
let polls = 0;

/** Polls otherwise each time. For the command line: `--integration test/kit/by-chance-file.ts`. */
export const integration: IntegrationUnderTest = naive({
  start: (ports) => {
    const handlers = naiveHandlers(ports);
    return {
      ...handlers,
      poll: async (job) => {
        polls += 1;
        const sql = polls % 2 === 0 ? 'select 1' : 'update orders set id = id';
        await ports.pool.query(sql);
        await handlers.poll(job);
      },
    };
  },
});
