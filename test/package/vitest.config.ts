import { defineConfig, type ViteUserConfig } from 'vitest/config';

/** Set by .ci/run: where to write the results as JSON, besides printing them. */
const report = process.env['SUME_SIM_TEST_REPORT'];

/** Apart from the other tests: these build, pack and install the package, which takes a minute. */
const config: ViteUserConfig = defineConfig({
  test: {
    include: ['test/package/*.test.ts'],
    reporters: report === undefined ? ['default'] : ['default', ['json', { outputFile: report }]],
    retry: 0,
    testTimeout: 120_000,
    hookTimeout: 300_000,
  },
});

export default config;
