import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromium, type BrowserContext, type CDPSession, type Page } from 'playwright-core';
import { chromiumPath } from '../browser/chromium.ts';
import { startChild } from '../setup/child.ts';
import type { Figure } from './figure.ts';

/** Profiles that are filled by a first visit, and visited once more. */
const PROFILES = 3;
const STEPS = 500;
/** Steps not counted: the first key presses compile the page's code. */
const WARM_UP = 20;

/** When, after the navigation began, what a person waits for was there. */
interface Visit {
  pictureMs: number;
  databaseMs: number;
  verdictMs: number;
}

/**
 * The lab as published (`npm run bench` builds first), served by `sume-sim lab`, in the machine's Chromium: how soon
 * a linked schedule is seen and judged, by a browser that has never been there and by one that has; and what one
 * step through a long trace costs the page, by the browser's own count of script, style and layout.
 */
export async function benchLab(): Promise<Record<string, Figure>> {
  const folder = await mkdtemp(join(tmpdir(), 'sume-sim-bench-'));
  const server = await startChild('dist/sim/cli/main.js', ['lab', '--port', '0', '--json'], {});
  const { url } = server.first as { url: string };
  try {
    const { stepsMs, steps } = await inBrowser(join(folder, 'steps'), (context) =>
      stepThrough(context, url),
    );
    const cold: Visit[] = [];
    const warm: Visit[] = [];
    for (let profile = 1; profile <= PROFILES; profile += 1) {
      for (const visits of [cold, warm]) {
        const place = join(folder, `profile-${profile}`);
        visits.push(await inBrowser(place, (context) => visit(context, url)));
      }
    }
    const figure = (visits: Visit[], what: keyof Visit, atMost: number): Figure => ({
      value: quantile(
        visits.map((one) => one[what]),
        0.5,
      ),
      unit: 'ms',
      goal: { atMost },
      inputs: {
        profiles: PROFILES,
        bestMs: Math.min(...visits.map((one) => one[what])),
        worstMs: Math.max(...visits.map((one) => one[what])),
      },
    });
    const step = (of: number, atMost: number): Figure => ({
      value: quantile(stepsMs, of),
      unit: 'ms',
      goal: { atMost },
      inputs: { steps, pressed: stepsMs.length, worstMs: Math.max(...stepsMs) },
    });
    return {
      'first picture, cold': figure(cold, 'pictureMs', 1_000),
      'first picture, warm': figure(warm, 'pictureMs', 500),
      'running database, cold': figure(cold, 'databaseMs', 7_000),
      'running database, warm': figure(warm, 'databaseMs', 3_000),
      'first verdict, cold': figure(cold, 'verdictMs', 8_000),
      'first verdict, warm': figure(warm, 'verdictMs', 4_000),
      'script and layout of a step, median': step(0.5, 4),
      'script and layout of a step, p95': step(0.95, 8),
    };
  } finally {
    await server.end('SIGINT');
    await rm(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
  }
}

/** A browser started for this alone; what it keeps on disk stays in the profile. */
async function inBrowser<T>(
  profile: string,
  work: (context: BrowserContext) => Promise<T>,
): Promise<T> {
  const context = await chromium.launchPersistentContext(profile, {
    executablePath: chromiumPath(),
    args: ['--no-sandbox'],
    viewport: { width: 1280, height: 800 },
  });
  try {
    return await work(context);
  } finally {
    await context.close();
  }
}

async function visit(context: BrowserContext, url: string): Promise<Visit> {
  const page = await context.newPage();
  // The page's own clock, which begins with the navigation.
  await page.addInitScript(() => {
    const seen = { databaseMs: 0, verdictMs: 0 };
    Object.assign(globalThis, { seen });
    new MutationObserver(() => {
      if (document.querySelector('.engine .ready') !== null) seen.databaseMs ||= performance.now();
      if (location.hash.includes('s=')) seen.verdictMs ||= performance.now();
    }).observe(document, { subtree: true, childList: true, characterData: true });
  });
  await page.goto(url);
  await page.locator('.engine .ready').waitFor({ timeout: 60_000 });
  await page.getByRole('button', { name: 'Run', exact: true }).click();
  await page.waitForURL(/#s=/, { timeout: 60_000 });
  const visited = await page.evaluate(() => ({
    ...(globalThis as unknown as { seen: Omit<Visit, 'pictureMs'> }).seen,
    pictureMs: performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? Number.NaN,
  }));
  await page.close();
  return visited;
}

/** Each key press through a trace of more than 500 steps, and what it cost. */
async function stepThrough(
  context: BrowserContext,
  url: string,
): Promise<{ stepsMs: number[]; steps: number }> {
  const page = await context.newPage();
  await page.goto(url);
  await page.locator('.engine .ready').waitFor({ timeout: 60_000 });
  const steps = await openLongTrace(page);
  await page.getByRole('listbox').focus();
  await page.keyboard.press('Home');
  const session = await context.newCDPSession(page);
  await session.send('Performance.enable');
  const stepsMs: number[] = [];
  for (let pressed = 1; pressed < STEPS; pressed += 1) {
    const before = await busyMs(session);
    await page.keyboard.press('ArrowDown');
    await session.send('Runtime.evaluate', { expression: PAINTED, awaitPromise: true });
    if (pressed > WARM_UP) stepsMs.push((await busyMs(session)) - before);
  }
  // Were the keys heard?
  await page.locator(`[data-step="${STEPS}"][aria-selected=true]`).waitFor();
  return { stepsMs, steps };
}

/** What a step sets off has been laid out and painted when the second frame begins. */
const PAINTED = 'new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))';

async function busyMs(session: CDPSession): Promise<number> {
  const { metrics } = await session.send('Performance.getMetrics');
  const counted = ['ScriptDuration', 'LayoutDuration', 'RecalcStyleDuration'];
  const seconds = metrics
    .filter(({ name }) => counted.includes(name))
    .reduce((sum, { value }) => sum + value, 0);
  return seconds * 1_000;
}

/** No shipped scenario takes that many steps, hence pasted code that looks at its row again and again. */
async function openLongTrace(page: Page): Promise<number> {
  await page.getByLabel('Scenario').selectOption('everything');
  await page.getByRole('tab', { name: 'Your code' }).click();
  const field = page.locator('textarea.code');
  const code = (await field.inputValue()).replace(
    'const write = (jobId, status, result = null) =>',
    `const write = async (jobId, status, result = null) => {
      for (let look = 1; look <= 60; look += 1)
        await database.query('select status, result from jobs where job_id = $1', [jobId]);
      return put(jobId, status, result);
    };
    const put = (jobId, status, result) =>`,
  );
  await field.fill(code);
  await page.getByRole('button', { name: /^Check it/ }).click();
  await page.locator('.engine .ready').waitFor({ timeout: 120_000 });
  await page.locator(`[data-step="${STEPS}"]`).waitFor({ timeout: 60_000, state: 'attached' });
  await page.getByRole('tab', { name: 'Rows' }).click();
  return page.locator('[data-step]').count();
}

function quantile(values: readonly number[], of: number): number {
  const sorted = values.toSorted((one, other) => one - other);
  return sorted[Math.min(Math.floor(sorted.length * of), sorted.length - 1)] ?? Number.NaN;
}
