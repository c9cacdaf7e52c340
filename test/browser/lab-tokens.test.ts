import { PGlite } from '@electric-sql/pglite';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createSimulator, integrations, scenarios, type Run } from '../../sim/index.ts';
import { exportedText, openLab, untilReady, useBrowser } from './open-lab.ts';

useBrowser();

let database: PGlite;
beforeAll(async () => {
  database = await PGlite.create();
});
afterAll(() => database.close());

async function runHere(scenarioName: string, integrationName: string, seed: number): Promise<Run> {
  const scenario = scenarios.find(({ name }) => name === scenarioName);
  const integration = integrations.find(({ name }) => name === integrationName);
  if (scenario === undefined || integration === undefined) throw new Error('No such names.');
  const simulator = await createSimulator({ scenario, integration, database });
  return simulator.replay((await simulator.run({ seed })).token);
}

/** Every scenario, each kind of integration: on the core and by hand, with transactions, locks and a replica. */
const MIXED = ['guarded', 'naive-update', 'park-never-drain', 'look-then-park', 'reads-replica'];

test('a link shows, byte by byte, the trace that Node replays', async () => {
  const page = await openLab();
  await untilReady(page);
  for (const [index, { name }] of scenarios.entries()) {
    const integration = MIXED[index % MIXED.length] ?? 'guarded';
    for (const [which, seed] of [
      ['guarded', 2],
      [integration, 5],
    ] as const) {
      const here = await runHere(name, which, seed);
      await page.evaluate((token) => (location.hash = `#s=${token}`), here.token);
      await page.locator('.engine progress').waitFor({ state: 'detached' });
      await page.locator('[role=option]').first().waitFor();
      expect(await exportedText(page, 'JSON'), `${name}, ${which}`).toBe(JSON.stringify(here));
    }
  }
});

test('a link is opened by whoever comes with it, at its step', async () => {
  const here = await runHere('conflicting-terminals', 'last-terminal-wins', 4);
  const page = await openLab(`#s=${here.token}&at=3`);
  await untilReady(page);
  expect(await exportedText(page, 'JSON')).toBe(JSON.stringify(here));
  expect(await page.locator('[data-step="3"]').getAttribute('aria-selected')).toBe('true');
});

test('until a link has been replayed no other race is shown', async () => {
  const here = await runHere('early-webhook', 'guarded', 2);
  const page = await openLab();
  const { href } = new URL(page.url());
  await page.goto('about:blank');
  await page.addInitScript(() => {
    const shown: string[] = [];
    Object.assign(globalThis, { shown });
    new MutationObserver(() => {
      shown.push(document.querySelector('.verdict strong')?.textContent ?? 'nothing');
    }).observe(document, { subtree: true, childList: true, characterData: true });
  });
  await page.goto(`${href}#s=${here.token}`);
  await page.locator('[role=option]').first().waitFor({ timeout: 60_000 });
  const shown = await page.evaluate(() => (globalThis as unknown as { shown: string[] }).shown);
  expect(new Set(shown)).toEqual(new Set(['nothing', '✓ pass']));
});

test('a damaged link says what is wrong with it', async () => {
  const page = await openLab('#s=sume1-abcdefgh');
  await page.getByText(/The token "sume1-abcdefgh" is damaged/).waitFor({ timeout: 60_000 });
});

test('the trace that ships with the page is what its token replays', async () => {
  const page = await openLab();
  const shipped = JSON.parse(await exportedText(page, 'JSON')) as Run;
  const scenario = scenarios.find(({ name }) => name === shipped.scenario);
  const integration = integrations.find(({ name }) => name === shipped.integration);
  if (scenario === undefined || integration === undefined) throw new Error('No such names.');
  const simulator = await createSimulator({ scenario, integration, database });
  expect(await simulator.replay(shipped.token)).toEqual(shipped);
});
