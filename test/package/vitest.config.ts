import { defineConfig, type ViteUserConfig } from 'vitest/config';
import { reporters } from '../setup/reporters.ts';

/** Apart from the other tests: these build, pack and install the package, which takes a minute. */
const config: ViteUserConfig = defineConfig({
  test: {
    include: ['test/package/*.test.ts'],
    reporters,
    retry: 0,
    testTimeout: 120_000,
    hookTimeout: 300_000,
  },
});

export default config;
