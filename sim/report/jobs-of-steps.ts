import type { Step } from '../engine/trace.ts';
import type { Run, Violation } from '../world/run.ts';

/** Which jobs the parts of a run are about. */
export interface JobsOfSteps {
  ofStep(step: Step): string[];
  ofViolation(violation: Violation): string[];
}

/**
 * Tells which jobs a step concerns: those whose rows it changed or whose ids it names, and for a step that
 * names none (`update sume_jobs: 0 rows`) the one that the rest of its task is about. The jobs of a run are
 * the keys of the rows that changed in it.
 */
export function jobsOfSteps(run: Run): JobsOfSteps {
  const keys = [...new Set(run.steps.flatMap(({ changes }) => changes.map(({ key }) => key)))];
  const named = new Map(keys.map((key) => [key, wholeWord(key)]));
  const inText = (text: string): string[] =>
    keys.filter((key) => named.get(key)?.test(text) === true);
  const own = (step: Step): string[] => [
    ...step.changes.map(({ key }) => key),
    ...inText(`${step.label} ${step.text}`),
  ];
  const ofTask = new Map<string, Set<string>>();
  for (const step of run.steps) {
    const jobs = ofTask.get(step.task) ?? new Set<string>();
    for (const job of own(step)) jobs.add(job);
    ofTask.set(step.task, jobs);
  }
  return {
    ofStep: (step) => {
      const jobs = own(step);
      if (jobs.length > 0) return jobs;
      const around = [...(ofTask.get(step.task) ?? [])];
      return around.length === 1 ? around : [];
    },
    ofViolation: ({ step, message }) => {
      const changes = run.steps[step - 1]?.changes ?? [];
      return [...changes.map(({ key }) => key), ...inText(message)];
    },
  };
}

/** Ids are opaque: `job_a` must not be found in `job_ab`, nor a dot taken for any character. */
function wholeWord(key: string): RegExp {
  const literal = key.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&');
  return new RegExp(`(?<![\\p{L}\\p{N}_-])${literal}(?![\\p{L}\\p{N}_-])`, 'u');
}
