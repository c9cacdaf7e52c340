import { chromium, type Browser, type BrowserContextOptions, type Page } from 'playwright-core';
import { afterAll, beforeAll, expect, inject, onTestFinished } from 'vitest';
import { chromiumPath } from './chromium.ts';

let browser: Browser;

/** One browser for the tests of a file. */
export function useBrowser(): void {
  beforeAll(async () => {
    browser = await chromium.launch({
      executablePath: chromiumPath(),
      args: ['--no-sandbox'],
    });
  });
  afterAll(() => browser.close());
}

export interface LabOptions extends BrowserContextOptions {
  /** Where the lab is, if not where `sume-sim lab` serves it. */
  at?: string;
  /** What the browser lacks. */
  without?: 'WebAssembly' | 'Worker';
}

/**
 * Opens the lab in a profile of its own. The test fails if the page writes an error to the console, throws, or asks
 * any other host for anything.
 */
export async function openLab(
  fragment: string = '',
  { at = inject('labUrl'), without, ...options }: LabOptions = {},
  /** Complaints in the console that the test provokes. */
  expected: RegExp = /^$/,
): Promise<Page> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, ...options });
  if (without !== undefined) {
    await context.addInitScript((name) => void Reflect.deleteProperty(globalThis, name), without);
  }
  const page = await context.newPage();
  const wrong: string[] = [];
  page.on('console', (message) => {
    if (message.type() === 'error' && !expected.test(message.text())) wrong.push(message.text());
  });
  page.on('pageerror', (error) => wrong.push(String(error)));
  const { host } = new URL(at);
  context.on('request', (request) => {
    const url = new URL(request.url());
    if (url.protocol !== 'blob:' && url.host !== host) wrong.push(`asked ${url.href}`);
  });
  context.on('requestfailed', (request) => {
    // Asked for, and held back by the policy.
    if (request.failure()?.errorText !== 'csp') return;
    wrong.splice(wrong.indexOf(`asked ${request.url()}`), 1);
  });
  onTestFinished(async () => {
    await context.close();
    expect(wrong).toEqual([]);
  });
  // The development server first makes what ships with the page; a link is shown once the database runs.
  await page.goto(at + fragment, { timeout: 90_000 });
  await page.locator('[role=option]').first().waitFor({ timeout: 60_000 });
  return page;
}

/** Waits until PostgreSQL runs in the page and nothing else is under way. */
export async function untilReady(page: Page): Promise<void> {
  await page.getByText('PostgreSQL is running').waitFor({ timeout: 60_000 });
}

/** What is chosen in the first timeline. */
export async function chosenStep(page: Page): Promise<number> {
  const chosen = page.locator('.drawing').first().locator('[aria-selected=true]');
  return (await chosen.count()) === 0 ? 0 : Number(await chosen.getAttribute('data-step'));
}

/** Runs a schedule by the fields at the top. */
export async function runChoice(
  page: Page,
  choice: { scenario: string; integration: string; seed: number },
): Promise<void> {
  await page.getByLabel('Scenario').selectOption(choice.scenario);
  await page.getByLabel('Integration').selectOption(choice.integration);
  await page.getByLabel('Seed', { exact: true }).fill(String(choice.seed));
  await page.getByLabel('Seed', { exact: true }).blur();
  await page.getByRole('button', { name: 'Run', exact: true }).click();
  await page.locator('.engine progress').waitFor({ state: 'detached', timeout: 60_000 });
}

/** The text of a file that the page saves. */
export async function exportedText(page: Page, form: string): Promise<string> {
  await page.getByText('Export', { exact: true }).click();
  const saving = page.waitForEvent('download');
  await page.getByRole('button', { name: form }).click();
  const stream = await (await saving).createReadStream();
  const pieces: Buffer[] = [];
  for await (const piece of stream) pieces.push(piece as Buffer);
  return Buffer.concat(pieces).toString();
}
