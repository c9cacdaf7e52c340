import { expect, it } from 'vitest';
import { createReconciler, migrate, postgresDatabase } from '../../src/index.ts';
import { describePostgres, openPostgres } from '../setup/databases.ts';
import { flawless, installAudit } from './audit.ts';
import { coreContender } from './core-contender.ts';
import { LOAD_TIMEOUT_MS, runLoad } from './load.ts';
import { recordEffect } from './record-effect.ts';

const JOBS = 4_000;
const CONNECTIONS = 16;

const SERVICES = [
  { name: 'as it comes', settings: [], concurrency: 'locks' },
  {
    name: 'where sessions default to repeatable read',
    settings: ['default_transaction_isolation=repeatable read'],
    concurrency: 'locks',
  },
  {
    name: 'where sessions default to serializable',
    settings: ['default_transaction_isolation=serializable'],
    concurrency: 'locks',
  },
  { name: 'serializable, without a lock', settings: [], concurrency: 'serializable' },
] as const;

describePostgres('register, event, duplicate event and two polls of each job race', () => {
  it.for(SERVICES)(
    'nothing is lost, stranded, moved backwards or done twice: $name',
    { timeout: LOAD_TIMEOUT_MS },
    async ({ settings, concurrency }) => {
      const { pool, close } = await openPostgres({
        connections: CONNECTIONS,
        settings: [...settings],
      });
      const database = postgresDatabase(pool);
      await migrate(database);
      const audit = await installAudit(pool);
      const reconciler = createReconciler({ database, concurrency, onTerminal: recordEffect });

      const { jobs, outcomes } = await runLoad(coreContender(reconciler), {
        jobs: JOBS,
        lanes: CONNECTIONS,
        seed: 2,
        meanwhile: audit.watch,
      });

      expect(await audit.judge(jobs)).toEqual(flawless(JOBS));
      expect(unseen(outcomes)).toEqual([]);
      await close();
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
