import type { Run } from '../../sim/world/run.ts';

/** What a failed schedule has to say for itself: what broke, and the command that shows it again. */
export function describeFailure(run: Run): string {
  const reasons = run.violations.map(
    ({ invariant, message, step }) => `${invariant} after step ${step}: ${message}`,
  );
  if (run.error !== undefined) reasons.push(`${run.error.code}: ${run.error.message}`);
  return [
    `${run.integration} in ${run.scenario}, seed ${run.seed}: ${run.verdict}`,
    ...reasons,
    `Replay it: npm run sim -- replay ${run.token}`,
  ].join('\n');
}
