import { defineConfig, type ViteUserConfig } from 'vitest/config';
import { reporters } from '../setup/reporters.ts';

/** Apart from the other tests: these keep a service of three processes busy for a minute. */
const config: ViteUserConfig = defineConfig({
  test: {
    include: ['test/operations/*.test.ts'],
    reporters,
    retry: 0,
    // Twice what a quiet machine needs for all of it, and more: each wait has a deadline of its own.
    hookTimeout: 300_000,
  },
});

export default config;
