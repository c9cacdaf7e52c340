import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import type { Page } from 'playwright-core';
import { expect, onTestFinished, test } from 'vitest';
import { exportedText, openLab, untilReady, useBrowser } from './open-lab.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
useBrowser();

async function openPanel(expected?: RegExp): Promise<Page> {
  const page = await openLab('', {}, expected);
  await untilReady(page);
  await page.getByRole('tab', { name: 'Your code' }).click();
  return page;
}

/** Checks code, or what is in the field already, and gives what the page says then. */
async function check(page: Page, code?: string): Promise<string> {
  if (code !== undefined) await page.locator('textarea.code').fill(code);
  await page.getByRole('button', { name: /^Check it/ }).click();
  await page.locator('.engine progress').waitFor({ state: 'detached', timeout: 60_000 });
  return page.locator('.notice').innerText();
}

const naive = (page: Page): Promise<string> => page.locator('textarea.code').inputValue();
const verdict = (page: Page): Promise<string> =>
  page.getByRole('region', { name: 'Verdict' }).innerText();

test('the naive integration that stands in the field loses the race, and can be worked on further', async () => {
  const page = await openPanel();
  expect(await check(page)).toMatch(/Schedule \d+ of stale-poll shows something/);
  expect(await verdict(page)).toMatch(/went back from completed to/);
  await page.getByRole('tab', { name: 'Rows' }).click();
  expect(await page.getByRole('row', { name: /job_a/ }).innerText()).toContain('≠');
  await page.getByRole('button', { name: 'Run it guarded' }).click();
  const beside = page.getByRole('region', { name: 'guarded, beside it' });
  await beside.waitFor();
  expect(await beside.getByRole('heading').innerText()).toContain('pass');
});

test('an integration with a guard, in a transaction, passes', async () => {
  const page = await openPanel();
  const guarded = (await naive(page))
    .replace(
      /database\.query\(\s*`[^]*?\]\);/,
      `database.transaction(async (tx) => {
        await tx.query('insert into jobs (job_id, status) values ($1, $2) on conflict do nothing', [jobId, 'queued']);
        await tx.query(
          'update jobs set status = $2, result = $3 where job_id = $1 and status in ($4, $5)',
          [jobId, status, result, 'queued', 'processing']);
      });`,
    )
    .replace('await write(jobId, data.sume_status);', '// Its news may be old.');
  expect(await check(page, guarded)).toContain('60 schedules of stale-poll passed');
  expect(await verdict(page)).toContain('pass');
});

test('what is wrong with the code is told with its line', async () => {
  const page = await openPanel();
  const code = await naive(page);
  expect(await check(page, 'const integration = {\n  tables: {\n];')).toMatch(
    /SyntaxError.*line 3 of your code/,
  );
  await check(page, code.replace('await request.json();', 'await request.json();\n  nonsense();'));
  const line = code.slice(0, code.indexOf('await request.json();')).split('\n').length + 1;
  expect(await verdict(page)).toContain(`nonsense is not defined (line ${line} of your code)`);
});

test('a loop without an end is ended from outside', async () => {
  const page = await openPanel();
  const code = (await naive(page)).replace('async sweep() {}', 'async sweep() { for (;;); }');
  expect(await check(page, code)).toContain('ran for 3 seconds without waiting for a port');
  expect(await page.locator('iframe').count()).toBe(0);
});

test('code in the cage reaches neither the network, nor storage, nor the page', async () => {
  const reached: string[] = [];
  const listener = createServer((request, response) => {
    reached.push(request.url ?? '');
    response.setHeader('access-control-allow-origin', '*');
    response.setHeader('content-type', 'text/javascript');
    response.end('self.escaped = true;');
  }).listen(0, '127.0.0.1');
  await once(listener, 'listening');
  onTestFinished(() => void listener.close());
  const at = `127.0.0.1:${(listener.address() as AddressInfo).port}`;
  const page = await openPanel(/Content Security Policy|Refused to|WebSocket connection/);
  const probes = `
    const heard = (target, good, bad) => new Promise((resolve, reject) => {
      target.addEventListener(good, resolve);
      target.addEventListener(bad, () => reject(new Error('refused')));
    });
    const probes = {
      fetch: () => fetch('http://${at}/fetch', { mode: 'no-cors' }),
      xhr: () => { const asked = new XMLHttpRequest(); asked.open('GET', 'http://${at}/xhr'); asked.send(); return heard(asked, 'load', 'error'); },
      socket: () => heard(new WebSocket('ws://${at}/socket'), 'open', 'error'),
      events: () => heard(new EventSource('http://${at}/events'), 'open', 'error'),
      script: () => importScripts('http://${at}/script'),
      module: () => import('http://${at}/module'),
      data: () => import('data:text/javascript,export default 1'),
      eval: () => (0, eval)('1'),
      compile: () => new Function('return 1')(),
      worker: () => heard(new Worker(URL.createObjectURL(new Blob(['fetch("http://${at}/worker").then(() => postMessage(1), () => {})']))), 'message', 'error'),
      indexedDB: () => { const asked = indexedDB.open('x'); return heard(asked, 'success', 'error'); },
      caches: () => caches.open('x'),
      files: () => navigator.storage.getDirectory(),
      localStorage: () => localStorage.getItem('x'),
      page: () => parent.document.title,
      opener: () => opener.location.href,
    };
    const integration = {
      tables: { jobs: 'jobs', parked: null, effects: null },
      async setup() {
        const reached = [];
        for (const [name, probe] of Object.entries(probes)) {
          const silent = new Promise((resolve) => { let turns = 20000; const channel = new MessageChannel(); channel.port1.onmessage = () => (turns-- > 0 ? channel.port2.postMessage(0) : resolve('silent')); channel.port2.postMessage(0); });
          try { if ((await Promise.race([(async () => probe())(), silent])) !== 'silent') reached.push(name); } catch {}
        }
        throw new Error('reached: ' + reached.join());
      },
      start: () => ({}),
    };`;
  expect(await check(page, probes)).toMatch(/^reached: (?! ?[a-z])/);
  expect(reached).toEqual([]);
});

test('a failure of pasted code is saved as a test that fails by itself, and passes once the code is mended', async () => {
  const page = await openPanel();
  await check(page);
  const program = await exportedText(page, 'Vitest');
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'sume-sim-pasted-')));
  await symlink(join(root, 'node_modules'), join(folder, 'node_modules'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const mended = program
    .replace('await write(jobId, data.sume_status);', '// Its news may be old.')
    .replace(
      'status = excluded.status, result',
      'status = case when jobs.result is null then excluded.status else jobs.status end, result',
    );
  expect(mended).not.toBe(program);
  const sources = pathToFileURL(join(root, 'sim/index.ts')).href;
  for (const [name, text] of Object.entries({ program, mended }))
    await writeFile(join(folder, `${name}.test.js`), text.replace("'sume-sim'", `'${sources}'`));
  const report = join(folder, 'report.json');
  const command = ['vitest', 'run', '--root', folder, '--reporter=json', `--outputFile=${report}`];
  await promisify(execFile)('npx', command, { cwd: folder }).catch(() => {});
  const { testResults } = JSON.parse(await readFile(report, 'utf8')) as {
    testResults: {
      name: string;
      assertionResults: { status: string; failureMessages: string[] }[];
    }[];
  };
  const resultOf = (name: string) =>
    testResults.find((one) => one.name.includes(name))?.assertionResults[0];
  expect(resultOf('program')?.status).toBe('failed');
  expect(resultOf('program')?.failureMessages.join()).toContain('The row of job_a went back');
  expect(resultOf('mended')?.status).toBe('passed');
});

test('what was checked earlier can be opened again, beside what was checked since', async () => {
  const page = await openPanel();
  await check(page);
  const earlier = new URL(page.url()).hash;
  await check(page, (await naive(page)).replace("'queued'", "'processing'"));
  const later = new URL(page.url()).hash;
  for (const hash of [earlier, later, earlier]) {
    await page.evaluate((wanted) => (location.hash = wanted), hash);
    await page.waitForFunction(() => document.querySelector('.opening') === null);
    await untilReady(page);
    expect(await page.locator('.notice').count()).toBe(0);
    expect(new URL(page.url()).hash).toBe(hash);
    expect(await verdict(page)).toMatch(/fail/);
  }
});

test('the console begins with the table of the pasted code', async () => {
  const page = await openPanel();
  await check(page);
  await page.getByRole('tab', { name: 'SQL' }).click();
  await page.getByRole('button', { name: 'Run SQL' }).click();
  await page.getByRole('cell', { name: 'job_a', exact: true }).waitFor();
});

test('a link to a schedule of pasted code runs nothing, and says why', async () => {
  const author = await openPanel();
  await check(author);
  const { hash } = new URL(author.url());
  expect(hash).toMatch(/^#s=sume1-/);
  const page = await openLab(hash);
  await page.getByText(/There is no integration "mine-1" in this version/).waitFor({
    timeout: 60_000,
  });
  expect(await page.locator('iframe').count()).toBe(0);
});
