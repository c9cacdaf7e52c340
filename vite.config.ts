import { defineConfig, type ViteUserConfig } from 'vitest/config';
import { reporters } from './test/setup/reporters.ts';

const config: ViteUserConfig = defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    exclude: ['test/package/**', 'test/browser/**', 'test/operations/**'],
    globalSetup: ['test/setup/postgres-server.ts', 'test/setup/pglite-template.ts'],
    // One PGlite instance lives in each worker process, shared by the files that run there: creating one
    // costs seconds. Hence forks that are not torn down between files.
    pool: 'forks',
    isolate: false,
    maxWorkers: 2,
    reporters,
    retry: 0,
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
});

export default config;
