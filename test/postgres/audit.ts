import type { Pool } from 'pg';

/**
 * What the judge saw. Each number counts jobs, and all but `jobs` and `ended` are faults.
 *
 * It is judged by triggers and SQL of the test alone: ranks are worked out here from the status words, and
 * the order of writes is that of `audit.seq`. A row's writes are serialised by its lock and the trigger
 * runs under that lock, so for one row this is the order in which they took effect. What was rolled back
 * leaves no audit row.
 */
export interface Verdict {
  /** Rows in the jobs table. */
  jobs: number;
  /** Those of them that are terminal. */
  ended: number;
  /** Sume ended it, and there is neither a terminal row nor a parked event. */
  lost: number;
  /** A job row and a parked event side by side, now that all is quiet. */
  stranded: number;
  /** The same, seen committed while the load ran (`watch`). */
  seenSideBySide: number;
  /** The rank dropped at some time. */
  backwards: number;
  /** A terminal status became another, or the row was ended more than once. */
  terminalChanges: number;
  /** A parked event was replaced by a later one. */
  parkedReplaced: number;
  /** The status is not the one that Sume reported. */
  wrong: number;
  /** Terminal without an effect. */
  effectsMissing: number;
  /** More than one effect. */
  effectsTwice: number;
  /** An effect of a job that has not ended. */
  effectsEarly: number;
}

/** A verdict without a fault. */
export function flawless(jobs: number): Verdict {
  return {
    jobs,
    ended: jobs,
    lost: 0,
    stranded: 0,
    seenSideBySide: 0,
    backwards: 0,
    terminalChanges: 0,
    parkedReplaced: 0,
    wrong: 0,
    effectsMissing: 0,
    effectsTwice: 0,
    effectsEarly: 0,
  };
}

export interface Audit {
  /** Looks for a job row and its parked event side by side, in committed state; call it under load. */
  watch: () => Promise<void>;
  /** The verdict, given how Sume ended each job. */
  judge(truth: readonly { id: string; status: string }[]): Promise<Verdict>;
}

/**
 * Puts triggers on the tables `sume_jobs` and `sume_parked` of the pool's schema and creates the table
 * `effects(job_id)`, which has no constraint that could hide a second effect. The table `audit` also tells the
 * `application_name` of who wrote.
 */
export async function installAudit(pool: Pool): Promise<Audit> {
  await pool.query(`
    create table effects (job_id text not null);
    create table audit (
      seq bigserial primary key, relation text not null, op text not null, job_id text not null,
      old_status text, new_status text, old_body text, new_body text,
      writer text not null default current_setting('application_name')
    );
    create function audit_rank(status text) returns int language sql immutable as $$
      select case status when 'queued' then 0 when 'processing' then 1
        when 'completed' then 2 when 'failed' then 2 when 'canceled' then 2 when 'expired' then 2 end
    $$;
    create function audit_row() returns trigger language plpgsql as $$
    begin
      insert into audit (relation, op, job_id, old_status, new_status, old_body, new_body) values (
        tg_argv[0], tg_op, coalesce(new.job_id, old.job_id),
        old.status, new.status, old.body, new.body);
      return null;
    end $$;
    create trigger audit after insert or update or delete on sume_jobs
      for each row execute function audit_row('jobs');
    create trigger audit after insert or update or delete on sume_parked
      for each row execute function audit_row('parked');
  `);
  const sideBySide = new Set<string>();
  return {
    watch: async () => {
      const { rows } = await pool.query<{ job_id: string }>(
        'select job_id from sume_jobs join sume_parked using (job_id) order by job_id',
      );
      for (const row of rows) sideBySide.add(row.job_id);
    },
    judge: async (truth) => {
      const { rows } = await pool.query<Omit<Verdict, 'seenSideBySide'>>(JUDGE, [
        truth.map((job) => job.id),
        truth.map((job) => job.status),
      ]);
      const [counts] = rows;
      if (!counts) throw new Error('The verdict has no row.');
      return { ...counts, seenSideBySide: sideBySide.size };
    },
  };
}

const JUDGE = `
  with truth as (select * from unnest($1::text[], $2::text[]) as t (job_id, status)),
  jobs as (select job_id, status, audit_rank(status) as rank from sume_jobs),
  moves as (
    select job_id, old_status, new_status,
      audit_rank(old_status) as old_rank, audit_rank(new_status) as new_rank
    from audit where relation = 'jobs' and op <> 'DELETE'
  ),
  ends as (
    select job_id, count(*) as times from moves
    where new_rank = 2 and old_rank is distinct from 2 group by job_id
  ),
  done as (select job_id, count(*) as times from effects group by job_id)
  select
    (select count(*) from jobs)::int as jobs,
    (select count(*) from jobs where rank = 2)::int as ended,
    (select count(*) from truth
      where not exists (select from jobs j where j.job_id = truth.job_id and j.rank = 2)
        and not exists (select from sume_parked p where p.job_id = truth.job_id))::int as lost,
    (select count(*) from jobs join sume_parked using (job_id))::int as stranded,
    (select count(distinct job_id) from moves where new_rank < old_rank)::int as backwards,
    (select count(distinct job_id) from (
      select job_id from moves where old_rank = 2 and new_status <> old_status
      union all select job_id from ends where times > 1
    ) as changed)::int as "terminalChanges",
    (select count(distinct job_id) from audit
      where relation = 'parked' and op = 'UPDATE'
        and (old_status, old_body) is distinct from (new_status, new_body))::int as "parkedReplaced",
    (select count(*) from truth join jobs using (job_id)
      where jobs.rank = 2 and jobs.status <> truth.status)::int as wrong,
    (select count(*) from jobs where rank = 2
      and not exists (select from done where done.job_id = jobs.job_id))::int as "effectsMissing",
    (select count(*) from done where times > 1)::int as "effectsTwice",
    (select count(*) from done
      where not exists (select from jobs where jobs.job_id = done.job_id and rank = 2))::int
      as "effectsEarly"
`;
