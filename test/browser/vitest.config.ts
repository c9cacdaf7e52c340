import { defineConfig, type ViteUserConfig } from 'vitest/config';
import { reporters } from '../setup/reporters.ts';

/** Apart from the other tests: these need a browser, the machine's own Chromium. */
const config: ViteUserConfig = defineConfig({
  test: {
    include: ['test/browser/*.test.ts'],
    globalSetup: ['test/browser/lab-server.ts'],
    // Every file has a browser of its own, and every page a PostgreSQL.
    maxWorkers: 2,
    reporters,
    retry: 0,
    testTimeout: 120_000,
    hookTimeout: 60_000,
  },
});

export default config;
