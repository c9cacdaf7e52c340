import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A browser without a window that has one page open. */
export interface OpenPage {
  close(): Promise<void>;
}

/**
 * Opens a page in the machine's Chromium, with a profile of its own that is removed at the end.
 *
 * @throws when there is no Chromium: `apt-get install chromium` brings it; CHROMIUM names another.
 */
export async function openPage(url: string): Promise<OpenPage> {
  const profile = await mkdtemp(join(tmpdir(), 'sume-sim-chromium-'));
  const child = spawn(
    process.env['CHROMIUM'] ?? 'chromium',
    [
      '--headless=new',
      '--no-sandbox',
      '--disable-gpu',
      '--disable-dev-shm-usage',
      '--no-first-run',
      `--user-data-dir=${profile}`,
      url,
    ],
    { stdio: 'ignore' },
  );
  await once(child, 'spawn');
  return {
    async close() {
      const closed = once(child, 'close');
      child.kill();
      await closed;
      // Its own children may still be writing for a moment.
      await rm(profile, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
    },
  };
}
