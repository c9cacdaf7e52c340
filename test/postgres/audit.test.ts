import { afterEach, beforeEach, expect, it } from 'vitest';
import { describePostgres, openPostgres } from '../setup/databases.ts';
import { flawless, installAudit, type Audit, type Verdict } from './audit.ts';

const TRUTH = [{ id: 'job_1', status: 'completed' }];

/** What a service may do to its tables, and what the judge has to say of it. */
const DEEDS: { deed: string; sql: string; faults: Partial<Verdict> }[] = [
  {
    deed: 'a job that moves forward, with one effect',
    sql: `insert into sume_jobs values ('job_1', 'queued');
      update sume_jobs set status = 'processing';
      update sume_jobs set status = 'completed'; insert into effects values ('job_1')`,
    faults: {},
  },
  {
    deed: 'a status that goes back and forth again',
    sql: `insert into sume_jobs values ('job_1', 'processing');
      update sume_jobs set status = 'queued';
      update sume_jobs set status = 'completed'; insert into effects values ('job_1')`,
    faults: { backwards: 1 },
  },
  {
    deed: 'an end that is taken back and made good',
    sql: `insert into sume_jobs values ('job_1', 'completed'); insert into effects values ('job_1');
      update sume_jobs set status = 'processing'; update sume_jobs set status = 'completed'`,
    faults: { backwards: 1, terminalChanges: 1 },
  },
  {
    deed: 'an end that becomes another',
    sql: `insert into sume_jobs values ('job_1', 'completed'); insert into effects values ('job_1');
      update sume_jobs set status = 'failed'`,
    faults: { terminalChanges: 1, wrong: 1 },
  },
  {
    deed: 'an end that nobody wrote down',
    sql: `insert into sume_jobs values ('job_1', 'processing')`,
    faults: { ended: 0, lost: 1 },
  },
  {
    deed: 'an event that stays parked beside its job',
    sql: `insert into sume_jobs values ('job_1', 'queued');
      insert into sume_parked values ('job_1', 'completed', 'first')`,
    faults: { ended: 0, stranded: 1, seenSideBySide: 1 },
  },
  {
    deed: 'a parked event that is replaced',
    sql: `insert into sume_parked values ('job_1', 'completed', 'first');
      update sume_parked set body = 'second'`,
    faults: { jobs: 0, ended: 0, parkedReplaced: 1 },
  },
  {
    deed: 'an end without its effect',
    sql: `insert into sume_jobs values ('job_1', 'completed')`,
    faults: { effectsMissing: 1 },
  },
  {
    deed: 'an effect that happens twice',
    sql: `insert into sume_jobs values ('job_1', 'completed');
      insert into effects values ('job_1'), ('job_1')`,
    faults: { effectsTwice: 1 },
  },
  {
    deed: 'an effect before the end',
    sql: `insert into sume_jobs values ('job_1', 'processing'); insert into effects values ('job_1')`,
    faults: { ended: 0, lost: 1, effectsEarly: 1 },
  },
];

describePostgres('the judge of the loads', () => {
  let opened: Awaited<ReturnType<typeof openPostgres>>;
  let audit: Audit;
  beforeEach(async () => {
    opened = await openPostgres({ connections: 1 });
    await opened.pool.query(`
      create table sume_jobs (job_id text primary key, status text not null, body text);
      create table sume_parked (job_id text primary key, status text not null, body text)`);
    audit = await installAudit(opened.pool);
  });
  afterEach(() => opened.close());

  it.for(DEEDS)('sees $deed for what it is', async ({ sql, faults }) => {
    await opened.pool.query(sql);
    await audit.watch();
    expect(await audit.judge(TRUTH)).toEqual({ ...flawless(1), ...faults });
  });

  it('holds nothing against what was rolled back', async () => {
    await opened.pool.query(`insert into sume_jobs values ('job_1', 'completed')`);
    await opened.pool.query(`insert into effects values ('job_1')`);
    await opened.pool.query(`begin; update sume_jobs set status = 'queued'; rollback`);
    expect(await audit.judge(TRUTH)).toEqual(flawless(1));
  });
});
