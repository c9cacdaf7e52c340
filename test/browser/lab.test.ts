import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { AxeBuilder } from '@axe-core/playwright';
import type { Page } from 'playwright-core';
import { describe, expect, inject, test } from 'vitest';
import {
  chosenStep,
  exportedText,
  openLab,
  runChoice,
  untilReady,
  useBrowser,
} from './open-lab.ts';

useBrowser();

const folder = fileURLToPath(new URL('screenshots', import.meta.url));

/** For a designer's eyes, after the tests. */
async function picture(page: Page, name: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  await page.screenshot({ path: join(folder, `${name}.png`) });
}

const verdict = (page: Page): Promise<string> =>
  page.getByRole('region', { name: 'Verdict' }).innerText();

describe('a first visit', () => {
  test('opens on the step at which the finished job goes back', async () => {
    const page = await openLab();
    expect(await verdict(page)).toMatch(/fail[^]*the finished job goes back to queued/);
    const chosen = page.locator('[role=option][aria-selected=true]');
    expect(await chosen.textContent()).toContain('job_a: completed → queued');
    const row = page.getByRole('row', { name: /job_a/ }).first();
    expect(await row.innerText()).toMatch(/completed → queued[^]*changed[^]*completed[^]*≠/);
    await picture(page, 'first-visit');
  });

  test('is seen after less than 60 kB, without the simulator', async () => {
    const page = await openLab();
    const files = await page.evaluate(() =>
      [document.URL, ...performance.getEntriesByType('resource').map(({ name }) => name)].filter(
        (name) => !/worker-|database\.bin|\.wasm|\.data|answer-/.test(name),
      ),
    );
    let bytes = 0;
    for (const file of files) {
      const response = await fetch(file);
      bytes += gzipSync(new Uint8Array(await response.arrayBuffer())).length;
    }
    expect(files.length).toBeGreaterThan(2);
    expect(bytes).toBeLessThan(60_000);
  });

  test('shows the same schedule under the guarded core at one click', async () => {
    const page = await openLab();
    await page.getByRole('button', { name: 'Run it guarded' }).click();
    const beside = page.getByRole('region', { name: 'guarded, beside it' });
    await beside.waitFor({ timeout: 60_000 });
    expect(await beside.getByRole('heading').innerText()).toContain('pass');
    expect(await beside.getByRole('row', { name: /job_a/ }).first().innerText()).toMatch(
      /completed[^]*=/,
    );
    const left = page.getByRole('region', { name: 'naive-update' });
    expect(await left.getByRole('row', { name: /job_a/ }).first().innerText()).toContain('≠');
    await picture(page, 'side-by-side');
  });
});

test('the keyboard goes through the steps', async () => {
  const page = await openLab();
  const violating = await chosenStep(page);
  await page.keyboard.press('ArrowDown');
  expect(await chosenStep(page)).toBe(violating + 1);
  await page.keyboard.press('ArrowLeft');
  await page.keyboard.press('ArrowUp');
  expect(await chosenStep(page)).toBe(violating - 1);
  await page.keyboard.press('Home');
  expect(await chosenStep(page)).toBe(1);
  await page.keyboard.press('End');
  expect(await chosenStep(page)).toBe(await page.locator('[role=option]').count());
  await page.keyboard.press('v');
  expect(await chosenStep(page)).toBe(violating);
  await page.keyboard.press('Home');
  await page.keyboard.press(' ');
  await page.locator('[data-step="3"][aria-selected=true]').waitFor();
  await page.keyboard.press(' ');
  expect(await page.getByRole('button', { name: 'Play' }).isVisible()).toBe(true);
});

test('no row is rendered again when another step is chosen', async () => {
  const page = await openLab();
  await page.evaluate(() => {
    const seen = globalThis as unknown as { changed: string[] };
    seen.changed = [];
    const drawing = document.querySelector('.drawing');
    if (drawing === null) throw new Error('There is no drawing.');
    new MutationObserver((records) => {
      for (const { type, attributeName, target } of records) {
        const known = attributeName === 'aria-selected' || !(target as Element).closest('.row');
        if (type !== 'attributes' || !known) seen.changed.push(`${type} ${attributeName}`);
      }
    }).observe(drawing, {
      subtree: true,
      childList: true,
      attributes: true,
    });
  });
  for (const key of ['Home', 'ArrowDown', 'ArrowDown', 'End']) await page.keyboard.press(key);
  expect(
    await page.evaluate(() => (globalThis as unknown as { changed: string[] }).changed),
  ).toEqual([]);
});

test('another scenario, integration and seed run at once, and the address names the schedule', async () => {
  const page = await openLab();
  await untilReady(page);
  await runChoice(page, { scenario: 'early-webhook', integration: 'guarded', seed: 3 });
  expect(await verdict(page)).toMatch(/pass[^]*No invariant was violated/);
  expect(page.url()).toMatch(/#s=sume1-/);
  // Whatever the order: it throws at what it does not know.
  // What is chosen and not run yet is not what is shown.
  await page.getByLabel('Scenario').selectOption('unknown-event');
  expect(await verdict(page)).toContain('This is guarded in early-webhook; press Run');
  await runChoice(page, { scenario: 'unknown-event', integration: 'unknown-event-500', seed: 3 });
  expect(await verdict(page)).not.toContain('This is');
  expect(await verdict(page)).toMatch(/fail[^]*job.archived/);
});

test('a step moves past its neighbour, and the verdict changes', async () => {
  const page = await openLab();
  await untilReady(page);
  // The poll's write moves up with what its task did before it, past the webhook's answer and then its write.
  const said = page.locator('.notice');
  await page.keyboard.press('Alt+ArrowUp');
  await said.getByText('Moved. It still fails.').waitFor();
  await page.keyboard.press('Alt+ArrowUp');
  await said.getByText('In this order it passes.').waitFor();
  expect(await verdict(page)).toMatch(/pass/);
  const chosen = page.locator('[role=option][aria-selected=true]');
  expect(await chosen.textContent()).toContain('update sume_jobs');
  await picture(page, 'swapped');
  // An answer comes about through what was asked.
  await page.keyboard.press('Home');
  await page.keyboard.press('Alt+ArrowDown');
  await said.getByText(/cannot come before .*: it only comes about through it/).waitFor();
  await page.keyboard.press('End');
  await page.keyboard.press('Alt+ArrowUp');
  await said.getByText('From where faults stop the order is fixed').waitFor();
});

test('a step is dragged past its neighbour', async () => {
  const page = await openLab();
  await untilReady(page);
  const dragUp = async (): Promise<void> => {
    const box = await page.locator('[role=option][aria-selected=true]').boundingBox();
    if (box === null) throw new Error('The chosen step is not in view.');
    await page.mouse.move(box.x + box.width / 2, box.y + 20);
    await page.mouse.down();
    await page.mouse.move(box.x + box.width / 2, box.y - 40);
    await page.mouse.up();
  };
  const said = page.locator('.notice');
  await dragUp();
  await said.getByText('Moved. It still fails.').waitFor();
  await dragUp();
  await said.getByText('In this order it passes.').waitFor();
  expect(await verdict(page)).toMatch(/pass/);
});

test('a failing run is made smaller, and fails still', async () => {
  const page = await openLab();
  await untilReady(page);
  let seed = 0;
  do {
    seed += 1;
    await runChoice(page, { scenario: 'everything', integration: 'naive-update', seed });
  } while (!/fail/.test(await verdict(page)));
  const steps = (): Promise<number> => page.locator('[role=option]').count();
  const many = await steps();
  await page.getByRole('button', { name: 'Make it smaller' }).click();
  await page.locator('.engine progress').waitFor({ state: 'detached', timeout: 60_000 });
  expect(await steps()).toBeLessThan(many);
  expect(await verdict(page)).toMatch(/fail/);
});

describe('the link to a step', () => {
  test('is copied, and opens there', async () => {
    const page = await openLab('', { permissions: ['clipboard-read', 'clipboard-write'] });
    await page.keyboard.press('ArrowUp');
    const step = await chosenStep(page);
    await page.getByRole('button', { name: 'Copy link' }).click();
    await page.getByText('The link to this step is copied.').waitFor();
    const link = await page.evaluate(() => navigator.clipboard.readText());
    expect(link).toBe(page.url());
    await page.context().close();
    const linked = await openLab(new URL(link).hash);
    expect(await chosenStep(linked)).toBe(step);
  });

  test('is in the address bar where the browser does not let a page copy', async () => {
    const page = await openLab();
    await page.evaluate(() => {
      navigator.clipboard.writeText = () => Promise.reject(new Error('no'));
    });
    await page.getByRole('button', { name: 'Copy link' }).click();
    await page.getByText('The link to this step is in the address bar').waitFor();
    expect(page.url()).toMatch(/#s=sume1-.*&at=\d+$/);
  });
});

describe.each([
  ['WebAssembly', 'This browser has no WebAssembly'],
  ['Worker', 'The simulator needs workers'],
] as const)('without %s', (without, message) => {
  test('the page says what is missing, and the race can still be looked at', async () => {
    const page = await openLab('', { without });
    await page.getByText(message).waitFor();
    const chosen = await chosenStep(page);
    await page.keyboard.press('ArrowUp');
    expect(await chosenStep(page)).toBe(chosen - 1);
    for (const name of ['Run', 'Run it guarded'])
      expect(await page.getByRole('button', { name, exact: true }).isDisabled()).toBe(true);
    await picture(page, `without-${without}`);
  });

  test('a link that cannot be replayed does not keep the page waiting', async () => {
    const page = await openLab('#s=sume1-abcdefgh', { without });
    await page.getByText(message).waitFor();
    expect(await verdict(page)).toMatch(/fail/);
  });
});

test('what only a PostgreSQL server shows is not offered without a word', async () => {
  const page = await openLab();
  const note = page.getByRole('note', { name: 'What was picked' });
  expect(await note.innerText()).not.toContain('Not here');
  await page.getByLabel('Integration').selectOption('look-without-rank');
  expect(await note.innerText()).toMatch(
    /Not here: [^]*sume-sim explore open-transaction --integration look-without-rank --database postgres/,
  );
  await page.getByLabel('Integration').selectOption('naive-update');
  await page.getByLabel('Scenario').selectOption('open-transaction');
  expect(await note.innerText()).toMatch(/open-transaction[^]*Not here: /);
});

test('the names of the lanes never touch', async () => {
  for (const width of [360, 420, 768, 1280, 1600]) {
    const page = await openLab('', { viewport: { width, height: 800 } });
    const gaps = await page.evaluate(() => {
      const boxes = [...document.querySelectorAll('.lane-names span')].map((span) => {
        const words = document.createRange();
        words.selectNodeContents(span);
        return words.getBoundingClientRect();
      });
      return boxes.flatMap((one, at) =>
        boxes
          .slice(at + 1)
          .map((other) =>
            Math.max(
              other.left - one.right,
              one.top > other.top ? one.top - other.bottom : other.top - one.bottom,
            ),
          ),
      );
    });
    expect(Math.min(...gaps), `at ${width} pixels`).toBeGreaterThanOrEqual(0);
    await page.context().close();
  }
});

describe('a search through all orders', () => {
  test('says how many there are, and lists the failing ones to open', async () => {
    const page = await openLab();
    await untilReady(page);
    await page.getByLabel('Scenario').selectOption('early-webhook');
    await page.getByLabel('Integration').selectOption('park-never-drain');
    await page.getByRole('button', { name: 'Explore' }).first().click();
    const panel = page.getByRole('tabpanel');
    await panel.getByText('That is all there are.').waitFor({ timeout: 60_000 });
    const steps = await panel.locator('li b').allInnerTexts();
    const lengths = steps.map((text) => Number(/of (\d+)/.exec(text)?.[1]));
    expect(lengths.length).toBeGreaterThan(0);
    expect(lengths).toEqual(lengths.toSorted((one, two) => one - two));
    await picture(page, 'explored');
    await panel.locator('li button').first().click();
    await page
      .getByText(/was committed beside its parked event/)
      .first()
      .waitFor();
    expect(await verdict(page)).toMatch(/fail/);
  });

  test('shows how far it is, leaves the page alive, and can be canceled', async () => {
    const page = await openLab();
    await untilReady(page);
    await page.getByLabel('Scenario').selectOption('everything');
    await page.getByRole('button', { name: 'Explore' }).first().click();
    const panel = page.getByRole('tabpanel');
    await panel.getByText(/[1-9]\d* schedules of everything[^]*so far/).waitFor();
    await page.keyboard.press('Home');
    expect(await chosenStep(page)).toBe(1);
    await panel.getByRole('button', { name: 'Cancel' }).click();
    await panel.getByText('Canceled: not all orders were covered.').waitFor();
    await untilReady(page);
  });
});

test('the console reads the database at the end of the schedule, and leaves nothing behind', async () => {
  const page = await openLab();
  await untilReady(page);
  await page.getByRole('tab', { name: 'SQL' }).click();
  const put = async (sql: string): Promise<string> => {
    await page.getByRole('textbox', { name: /On the database/ }).fill(sql);
    await page.keyboard.press('Control+Enter');
    await page.locator('.console [aria-live] > *').first().waitFor();
    return page.locator('.console [aria-live]').innerText();
  };
  const select = 'select job_id, status from sume_jobs';
  expect(await put(select)).toMatch(/job_a\s+completed/);
  await put('delete from sume_jobs');
  await page.getByText('1 row changed.').waitFor();
  await put(select);
  await page.getByRole('cell', { name: 'job_a' }).waitFor();
  await put('select nonsense');
  await page.getByText('column "nonsense" does not exist').waitFor();
});

describe('a trace is saved', () => {
  test('as Mermaid, SVG and a test', async () => {
    const page = await openLab();
    expect(await exportedText(page, 'Mermaid')).toMatch(/^sequenceDiagram\n/);
    const svg = await exportedText(page, 'SVG');
    expect(svg).toContain('job_a: completed → queued');
    const isWellFormed = await page.evaluate(
      (text) =>
        new DOMParser().parseFromString(text, 'image/svg+xml').querySelector('parsererror') ===
        null,
      svg,
    );
    expect(isWellFormed).toBe(true);
    const program = await exportedText(page, 'Vitest');
    expect(program).toContain("import { expect, test } from 'vitest';");
    expect(program).toContain('sume1-');
  });
});

describe.each(['light', 'dark'] as const)('in the %s theme', (colorScheme) => {
  test('axe finds nothing', async () => {
    const page = await openLab('', { colorScheme });
    await untilReady(page);
    for (const tab of ['Rows', 'Explore', 'SQL']) {
      await page.getByRole('tab', { name: tab }).click();
      const { violations } = await new AxeBuilder({ page }).analyze();
      expect(violations.map(({ id, nodes }) => `${id}: ${nodes[0]?.html}`)).toEqual([]);
    }
    await picture(page, colorScheme);
  });
});

/** Words of the timeline that stick out of the row they belong to. */
function beyondTheirRow(page: Page): Promise<string[]> {
  return page.locator('.drawing').evaluate((drawing) => {
    const { right } = drawing.getBoundingClientRect();
    return [...drawing.querySelectorAll('.row text')]
      .filter((text) => text.getBoundingClientRect().right > right - 4)
      .map((text) => text.textContent ?? '');
  });
}

test.each([360, 390, 768, 1600])('%i pixels are wide enough', async (width) => {
  const page = await openLab('', { viewport: { width, height: 844 } });
  const overflow = (): Promise<number> =>
    page.evaluate(
      () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
    );
  expect(await overflow()).toBe(0);
  expect(await beyondTheirRow(page)).toEqual([]);
  await picture(page, `wide-${width}`);
  await page.getByRole('button', { name: 'Run it guarded' }).click();
  await page.locator('.compared').waitFor({ timeout: 60_000 });
  expect(await overflow()).toBe(0);
});

test('the page is served with a policy that lets it speak to nobody', async () => {
  const response = await fetch(inject('labUrl'));
  const policy = response.headers.get('content-security-policy') ?? '';
  expect(policy).toMatch(/^default-src 'none'/);
  expect(policy).toContain("connect-src 'self'");
  expect(await response.text()).toContain('http-equiv="Content-Security-Policy"');
  expect((await fetch(`${inject('labUrl')}../../package.json`)).status).toBe(404);
});
