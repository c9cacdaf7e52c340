import type { Run } from '../../index.ts';

/** A job's own move at Sume, as the trace tells it: `job_a is completed`, `job_a is canceled by its user`. */
const MOVE = /^(\S+) is (processing|completed|failed|canceled|expired)\b/;
/** An accepted submit's answer: `202 job_a queued`. */
const ACCEPTED = /^202 (\S+) /;

/**
 * What Sume itself holds of each job after a step: the truth that the rows are measured by. It is in the trace
 * as the steps that moved it.
 */
export function sumeSays(run: Run, step: number): Map<string, string> {
  const said = new Map<string, string>();
  for (const { kind, text, sentBy } of run.steps) {
    if (kind !== 'answer' || sentBy === undefined) continue;
    const jobId = ACCEPTED.exec(text)?.[1];
    const asked = run.steps.find(({ label }) => label === sentBy);
    if (jobId !== undefined && asked !== undefined && asked.index <= step)
      said.set(jobId, 'queued');
  }
  for (const { index, kind, text } of run.steps) {
    if (index > step) break;
    const [, jobId, status] = kind === 'event' ? (MOVE.exec(text) ?? []) : [];
    if (jobId !== undefined && status !== undefined) said.set(jobId, status);
  }
  return said;
}
