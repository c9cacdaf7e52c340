import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createServer } from 'vite';
import { expect, onTestFinished, test } from 'vitest';
import { openLab, untilReady, useBrowser } from './open-lab.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
useBrowser();

test('"npm run lab" serves a page that works while somebody works on it', async () => {
  // Nothing is left of an earlier start: packages are prepared while the page is already loading.
  const cacheDir = await mkdtemp(join(root, 'node_modules', '.sume-sim-lab-'));
  onTestFinished(() => rm(cacheDir, { recursive: true, force: true }));
  const server = await createServer({
    configFile: join(root, 'sim/lab/vite.config.ts'),
    cacheDir,
    server: { port: 0, watch: null },
    logLevel: 'error',
  });
  onTestFinished(() => server.close());
  await server.listen();
  const page = await openLab('', { at: server.resolvedUrls?.local[0] ?? '' });
  await untilReady(page);
  await page.getByRole('button', { name: 'Run it guarded' }).click();
  const beside = page.getByRole('region', { name: 'guarded, beside it' });
  await beside.waitFor({ timeout: 60_000 });
  expect(await beside.getByRole('heading').innerText()).toContain('pass');
  // What ships with the page is made first, and every file is read by itself.
}, 300_000);
