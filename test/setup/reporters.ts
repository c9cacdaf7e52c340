import type { InlineConfig } from 'vitest/node';

/** Set by .ci/run: where to write the results as JSON, besides printing them. */
const report = process.env['SUME_SIM_TEST_REPORT'];

/** Of every suite: continuous integration counts what passed; a person reads the terminal. */
export const reporters: NonNullable<InlineConfig['reporters']> =
  report === undefined ? ['default'] : ['default', ['json', { outputFile: report }]];
