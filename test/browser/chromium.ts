import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/**
 * Where this machine's Chromium is.
 *
 * @throws when it is not there.
 */
export function chromiumPath(): string {
  const path = process.env['CHROMIUM'] ?? '/usr/bin/chromium';
  if (!existsSync(path)) {
    throw new Error(
      `There is no Chromium at ${path}: install it (Debian: apt-get install chromium), or set CHROMIUM to ` +
        'the path of one.',
    );
  }
  return path;
}

/** A browser without a window that has one page open. */
export interface OpenPage {
  close(): Promise<void>;
}

/**
 * Opens a page in the machine's Chromium, with a profile of its own that is removed at the end.
 *
 * @throws when there is no Chromium.
 */
export async function openPage(url: string): Promise<OpenPage> {
  const profile = await mkdtemp(join(tmpdir(), 'sume-sim-chromium-'));
  const child = spawn(
    chromiumPath(),
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
