import { CheckOptionError, InvariantViolatedError } from './check-errors.ts';
import { checkIntegration, type CheckOptions } from './check-integration.ts';
import type { IntegrationUnderTest } from './integration-under-test.ts';

/** As for `checkIntegration`, but for other defaults: every order of `early-webhook`, 5,000 of them at the most. */
export type SurvivalOptions = CheckOptions;

/**
 * A matcher for Vitest and Jest, which is given to `expect.extend({ toSurviveEveryOrder })`. It fails with the
 * explained counterexample. With `every: false` orders are drawn.
 *
 * @throws {CheckOptionError} where the limit `runs` ends the search before every order was run: then nobody knows,
 * and neither the matcher nor its `.not` holds.
 */
export async function toSurviveEveryOrder(
  integration: IntegrationUnderTest,
  options: SurvivalOptions = {},
): Promise<{ pass: boolean; message: () => string }> {
  try {
    const { complete, runs, scenarios } = await checkIntegration(integration, {
      scenario: 'early-webhook',
      runs: 5_000,
      ...options,
      every: options.every ?? options.replay === undefined,
    });
    const all = scenarios.join(', ');
    if (complete === false) {
      throw new CheckOptionError(
        `${runs} schedules of ${all} were survived, and there are more orders: raise runs, lower faults, or ` +
          'draw orders with every: false.',
      );
    }
    return {
      pass: true,
      message: () => `It was to fail in some order of ${all}, and it survived ${runs} schedules.`,
    };
  } catch (error) {
    if (!(error instanceof InvariantViolatedError)) throw error;
    return { pass: false, message: () => error.message };
  }
}
