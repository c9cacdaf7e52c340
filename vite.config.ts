import { defineConfig, type ViteUserConfig } from 'vitest/config';

/** Set by .ci/run: where to write the results as JSON, besides printing them. */
const report = process.env['SUME_SIM_TEST_REPORT'];

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
    // Continuous integration counts what passed; a person reads the terminal.
    reporters: report === undefined ? ['default'] : ['default', ['json', { outputFile: report }]],
    retry: 0,
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
});

export default config;
