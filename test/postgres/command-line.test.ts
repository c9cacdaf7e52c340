import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { Client } from 'pg';
import { expect, inject, it, onTestFinished } from 'vitest';
import type { Run } from '../../sim/world/run.ts';
import { UsageError } from '../../sim/cli/usage-error.ts';
import { describePostgres } from '../setup/databases.ts';
import { runCli } from '../unit/sim/cli/run-cli.ts';

describePostgres('the command line on a PostgreSQL server', () => {
  it('finds what only a server shows, and its token says where to replay it', async () => {
    const search = ['open-transaction', '--integration', 'look-then-park'];
    const found = await runCli('run', ...search, '--database', 'postgres', '--json');
    expect(found.code).toBe(1);
    const run = JSON.parse(found.stdout) as Run;
    expect(run.database).toBe('postgres');
    const again = await runCli('replay', run.token, '--json');
    expect(again.code).toBe(1);
    expect((JSON.parse(again.stdout) as Run).steps).toEqual(run.steps);
    const elsewhere = await runCli('replay', run.token, '--database', 'pglite');
    expect(elsewhere.error).toBeInstanceOf(UsageError);
    expect((elsewhere.error as UsageError).message).toMatch(/of the database "postgres"/);
  });

  it('says what to do where nobody answers, and does not repeat the password', async () => {
    const nowhere = 'postgres://somebody:hidden@127.0.0.1:1/nothing';
    const { error } = await runCli('run', '--database-url', nowhere);
    expect(error).toMatchObject({ code: 'no_server' });
    expect((error as Error).message).toMatch(/cannot be reached.*ECONNREFUSED.*host and port/);
    expect((error as Error).message).not.toContain('hidden');
  });

  it('says that a server refused, where it was the server who answered', async () => {
    const url = new URL(inject('databaseUrl') ?? '');
    url.pathname = '/no_such_database';
    const { error } = await runCli('run', '--database-url', url.href);
    expect(error).toMatchObject({ code: 'no_server' });
    expect((error as Error).message).toMatch(/does not let us in.*no_such_database.*Check user/);
  });

  it('drops its schema when Ctrl-C ends it in the middle of a schedule', async () => {
    const { client, url } = await ownDatabase();
    const main = fileURLToPath(new URL('../../sim/cli/main.ts', import.meta.url));
    const command = ['run', 'everything', '--integration', 'no-sweeper', '--database-url', url];
    const child = spawn(process.execPath, ['--import', 'tsx', main, ...command], {
      stdio: 'ignore',
    });
    onTestFinished(() => void child.kill('SIGKILL'));
    const ended = new Promise<number | null>((resolve) => child.once('exit', resolve));
    // A transaction of a task is under way, and with it a schedule.
    await untilAny(
      client,
      `from pg_stat_activity where datname = current_database() and xact_start is not null
      and application_name = 'sume-sim' and exists (select from pg_namespace where nspname like 'sume_sim_%')`,
    );
    child.kill('SIGINT');
    expect(await ended).toBe(130);
    const left = await client.query("select from pg_namespace where nspname like 'sume_sim_%'");
    expect(left.rows).toEqual([]);
  });
});

/** A database that nobody else uses, and a connection to it. */
async function ownDatabase(): Promise<{ client: Client; url: string }> {
  const base = inject('databaseUrl') ?? '';
  const admin = new Client({ connectionString: base });
  await admin.connect();
  const { rows } = await admin.query<{ id: string }>('select pg_current_xact_id()::text as id');
  const name = `sume_ctrl_c_${rows[0]?.id ?? ''}`;
  await admin.query(`create database ${name}`);
  const url = new URL(base);
  url.pathname = name;
  const client = new Client({ connectionString: url.href });
  await client.connect();
  onTestFinished(async () => {
    await client.end();
    await admin.query(`drop database ${name} with (force)`);
    await admin.end();
  });
  return { client, url: url.href };
}

/** Resolves when the query finds something; the waiting between two looks is the server's. */
async function untilAny(client: Client, query: string): Promise<void> {
  for (let look = 0; look < 5_000; look += 1) {
    const { rows } = await client.query<{ found: boolean }>(
      `select exists (select ${query}) as found from pg_sleep(0.005)`,
    );
    if (rows[0]?.found === true) return;
  }
  throw new Error('It never came to that.');
}
