import type { Step } from '../engine/trace.ts';
import type { Run } from '../world/run.ts';
import { jobsOfSteps } from './jobs-of-steps.ts';

/** Steps left out of a drawing, between two that are shown. */
export interface Gap {
  from: number;
  to: number;
  /** What was left out, the busiest actor first: `steps 5–16 left out: poller 8, web 4; no row changed`. */
  text: string;
}

/** Traces up to this many steps are drawn whole, but for what follows a violation. */
const WHOLE = 60;

/** Beyond this many times the limit, only what surrounds the violations and both ends is shown. */
const PATIENCE = 4;

/** This many steps are always shown at the beginning, at the end, and before a violation. */
const MARGIN = 3;

/** And this many after one: the story is over. */
const AFTERMATH = 1;

/**
 * Chooses what of a trace a person needs.
 *
 * After the last violation next to nothing is shown. A short trace is whole otherwise. Of a long one these stay: whatever changed a row, held a fault or crashed, the messages that led there, and both ends;
 * where something was violated, only what concerns the jobs that it was violated for. If even that is endless,
 * only what surrounds the violations. A gap stands for two steps at least.
 */
export function fold(run: Run, whole: number = WHOLE): (Step | Gap)[] {
  const keep = chosen(run, whole);
  const shown: (Step | Gap)[] = [];
  let hidden: Step[] = [];
  const close = (): void => {
    if (hidden.length === 1) shown.push(...hidden);
    if (hidden.length > 1) shown.push(gap(hidden));
    hidden = [];
  };
  for (const step of run.steps) {
    if (!keep.has(step.index)) {
      hidden.push(step);
      continue;
    }
    close();
    shown.push(step);
  }
  close();
  return shown;
}

/** Tells a gap from a step. */
export function isGap(item: Step | Gap): item is Gap {
  return 'from' in item;
}

function chosen(run: Run, whole: number): Set<number> {
  const violated = run.violations.map(({ step }) => step);
  const story =
    violated.length === 0 ? run.steps : run.steps.slice(0, Math.max(...violated) + AFTERMATH);
  if (story.length <= whole)
    return withChains(
      run,
      story.map(({ index }) => index),
    );
  const jobs = jobsOfSteps(run);
  const concerned = new Set(run.violations.flatMap((violation) => jobs.ofViolation(violation)));
  const wanted = story.filter((step) =>
    concerned.size > 0
      ? jobs.ofStep(step).some((job) => concerned.has(job))
      : step.changes.length > 0 || step.fault !== null || step.kind === 'crash',
  );
  const patience = wanted.length > whole * PATIENCE ? [] : wanted.map(({ index }) => index);
  return withChains(run, patience);
}

/** These steps, the messages that led to them, and the margins. */
function withChains(run: Run, wanted: number[]): Set<number> {
  const byLabel = new Map(run.steps.map((step) => [step.label, step]));
  const byIndex = new Map(run.steps.map((step) => [step.index, step]));
  const keep = new Set<number>();
  for (const index of wanted) {
    let link = byIndex.get(index);
    while (link !== undefined && !keep.has(link.index)) {
      keep.add(link.index);
      link = link.sentBy === undefined ? undefined : byLabel.get(link.sentBy);
    }
  }
  const range = (from: number, to: number): void => {
    for (let index = from; index <= to; index += 1) keep.add(index);
  };
  for (const { step } of run.violations) range(step - MARGIN, step + AFTERMATH);
  range(1, 1 + MARGIN);
  if (run.violations.length === 0) range(run.steps.length - MARGIN, run.steps.length);
  return keep;
}

function gap(hidden: Step[]): Gap {
  const from = hidden[0]?.index ?? 0;
  const to = hidden.at(-1)?.index ?? 0;
  const counts = new Map<string, number>();
  for (const { actor } of hidden) counts.set(actor, (counts.get(actor) ?? 0) + 1);
  const actors = [...counts]
    .sort(([, left], [, right]) => right - left)
    .map(([actor, count]) => `${actor} ${count}`);
  const changed = hidden.reduce((sum, step) => sum + step.changes.length, 0);
  const rows = changed === 0 ? 'no row changed' : `row changes ${changed}`;
  return { from, to, text: `steps ${from}–${to} left out: ${actors.join(', ')}; ${rows}` };
}
