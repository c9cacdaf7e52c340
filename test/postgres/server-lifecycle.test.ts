import { spawn } from 'node:child_process';
import { existsSync, watch } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, dirname } from 'node:path';
import { createInterface } from 'node:readline';
import { pathToFileURL } from 'node:url';
import { Client } from 'pg';
import { expect, it } from 'vitest';
import { describePostgres } from '../setup/databases.ts';
import { startEmbeddedServer } from '../../sim/postgres/embedded-server.ts';

describePostgres('a PostgreSQL server of the tests leaves nothing behind', () => {
  it.for(['SIGINT', 'SIGKILL'] as const)(
    'when the process that wanted it ends by %s',
    async (signal) => {
      const { process: owner, url, directory } = await ownedElsewhere();
      const connection = await connect(url);
      owner.kill(signal);
      await Promise.all([connection.closed, gone(directory)]);
      await expect(connect(url)).rejects.toMatchObject({ code: 'ECONNREFUSED' });
    },
  );

  it('when its keeper was killed, once the next one starts', async () => {
    const killed = await startEmbeddedServer();
    const connection = await connect(killed.url);
    process.kill(keeperOf(killed.directory), 'SIGKILL');
    const next = await startEmbeddedServer();
    await connection.closed;
    expect(existsSync(killed.directory)).toBe(false);
    await next.stop();
    expect(existsSync(next.directory)).toBe(false);
  });

  it('and keeps what was committed over a restart that is a crash', async () => {
    const server = await startEmbeddedServer();
    const before = await connect(server.url);
    await before.client.query('create table kept as select 1 as a');
    await server.restart();
    await before.closed;
    const after = await connect(server.url);
    expect((await after.client.query('select a from kept')).rows).toEqual([{ a: 1 }]);
    await after.client.end();
    await server.stop();
  });
});

/** A server whose owner is another process, one that can be killed. */
async function ownedElsewhere() {
  const tsx = pathToFileURL(createRequire(import.meta.url).resolve('tsx')).href;
  const module = new URL('../../sim/postgres/embedded-server.ts', import.meta.url).href;
  const program = `
    import { startEmbeddedServer } from '${module}';
    const { url, directory } = await startEmbeddedServer();
    console.log(JSON.stringify({ url, directory }));
    process.stdin.resume();
  `;
  const owner = spawn(
    process.execPath,
    ['--import', tsx, '--input-type=module', '--eval', program],
    { stdio: ['pipe', 'pipe', 'ignore'] },
  );
  const line = await new Promise<string>((resolve, reject) => {
    createInterface({ input: owner.stdout }).once('line', resolve).once('close', reject);
  });
  return { process: owner, ...(JSON.parse(line) as { url: string; directory: string }) };
}

async function connect(url: string) {
  const client = new Client({ connectionString: url });
  client.on('error', () => undefined); // the server goes away under it
  const closed = new Promise<void>((resolve) => client.once('end', resolve));
  await client.connect();
  return { client, closed };
}

/** The folder's name says whose it is. */
function keeperOf(directory: string): number {
  return Number(/-(\d+)-/.exec(basename(directory))?.[1]);
}

/** Resolves as soon as the folder does not exist. */
function gone(directory: string): Promise<void> {
  return new Promise((resolve) => {
    const watcher = watch(dirname(directory), look);
    function look(): void {
      if (existsSync(directory)) return;
      watcher.close();
      resolve();
    }
    look();
  });
}
