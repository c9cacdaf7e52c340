import { expect, it, onTestFinished } from 'vitest';
import { createReconciler, migrate, postgresDatabase } from '../../src/index.ts';
import { describePostgres, openPostgres } from '../setup/databases.ts';
import { flawless, installAudit } from './audit.ts';
import { coreContender } from './core-contender.ts';
import { jobCount, LOAD_TIMEOUT_MS, runLoad } from './load.ts';
import { recordEffect } from './record-effect.ts';

const CONNECTIONS = 16;

const SERVICES = [
  { name: 'as it comes', jobs: 4_000, settings: [], concurrency: 'locks' },
  {
    name: 'where sessions default to repeatable read',
    jobs: 1_500,
    settings: ['default_transaction_isolation=repeatable read'],
    concurrency: 'locks',
  },
  {
    name: 'where sessions default to serializable',
    jobs: 1_500,
    settings: ['default_transaction_isolation=serializable'],
    concurrency: 'locks',
  },
  // Whoever loses has to begin again, and so these take five times as long.
  { name: 'serializable, without a lock', jobs: 600, settings: [], concurrency: 'serializable' },
] as const;

describePostgres('register, event, duplicate event and two polls of each job race', () => {
  it.for(SERVICES)(
    'nothing is lost, stranded, moved backwards or done twice: $name',
    { timeout: LOAD_TIMEOUT_MS },
    async ({ jobs: usual, settings, concurrency }) => {
      const count = jobCount(usual);
      const { pool, close } = await openPostgres({
        connections: CONNECTIONS,
        settings: [...settings],
      });
      onTestFinished(close);
      const database = postgresDatabase(pool);
      await migrate(database);
      const audit = await installAudit(pool);
      const reconciler = createReconciler({
        database,
        concurrency,
        onTerminal: recordEffect,
        // How often a transaction loses depends on how busy the machine is; here none may give up.
        maxAttempts: 500,
      });

      const { jobs, outcomes } = await runLoad(coreContender(reconciler), {
        jobs: count,
        lanes: CONNECTIONS,
        seed: 2,
        meanwhile: audit.watch,
      });

      expect(await audit.judge(jobs)).toEqual(flawless(count));
      expect(unseen(outcomes)).toEqual([]);
    },
  );
});

/** The races this load is for; one that never came about was not tested. */
function unseen(outcomes: Record<string, number>): string[] {
  const expected = [
    'register: registered',
    'register: reconciled',
    'register: known',
    'receive: applied',
    'receive: duplicate',
    'receive: parked',
    'advance: applied',
    'advance: stale',
    'advance: unknown_job',
    'advance: inserted',
  ];
  return expected.filter((outcome) => !outcomes[outcome]);
}
