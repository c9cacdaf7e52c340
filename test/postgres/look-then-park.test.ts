import { expect, it, onTestFinished } from 'vitest';
import { describePostgres, openPostgres } from '../setup/databases.ts';
import { flawless, installAudit } from './audit.ts';
import { jobCount, LOAD_TIMEOUT_MS, runLoad } from './load.ts';
import { createLookThenPark } from './look-then-park.ts';

const JOBS = jobCount(1_000);

describePostgres('looking and parking without a lock, on real connections', () => {
  it(
    'strands events under the load that the core must survive, and the judge sees it',
    { timeout: LOAD_TIMEOUT_MS },
    async () => {
      const { pool, close } = await openPostgres();
      onTestFinished(close);
      const contender = await createLookThenPark(pool);
      const audit = await installAudit(pool);
      const { jobs } = await runLoad(contender, {
        jobs: JOBS,
        lanes: 16,
        seed: 1,
        meanwhile: audit.watch,
      });
      const verdict = await audit.judge(jobs);

      expect(verdict.stranded).toBeGreaterThan(0);
      expect(verdict.seenSideBySide).toBeGreaterThan(0);
      // Stranding is the one thing wrong with it, so the judge accuses it of nothing else.
      const { stranded, seenSideBySide, ended } = verdict;
      expect(verdict).toEqual({ ...flawless(JOBS), stranded, seenSideBySide, ended });
    },
  );
});
