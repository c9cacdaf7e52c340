import type { Step } from '../engine/trace.ts';
import type { Run } from '../world/run.ts';

/** Steps left out of a drawing, between two that are shown. */
export interface Gap {
  from: number;
  to: number;
  /** What was left out, the busiest actor first: `steps 5–16 left out: poller 8, web 4; no row changed`. */
  text: string;
}

/** Traces up to this many steps are drawn whole. */
const WHOLE = 60;

/** Beyond this many times the limit, only what surrounds the violations and both ends is shown. */
const PATIENCE = 4;

/** This many steps at either end, and before and after a violation, are always shown. */
const MARGIN = 3;

/**
 * Chooses what of a long trace a person needs: whatever changed a row, held a fault, crashed or violated an
 * invariant, the messages that led there, and both ends. If that is still long, only what names a row that
 * the violations are about; if even that is endless, only what surrounds the violations. Short traces come
 * back whole, and a gap stands for two steps at least.
 */
export function fold(run: Run, whole: number = WHOLE): (Step | Gap)[] {
  if (run.steps.length <= whole) return run.steps;
  let keep = chosen(run, matters);
  const keys = violatedKeys(run);
  if (keep.size > whole && keys.length > 0) {
    keep = chosen(run, (step) => step.kind === 'crash' || names(step, keys));
  }
  if (keep.size > whole * PATIENCE) keep = chosen(run, () => false);
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

function matters(step: Step): boolean {
  return step.changes.length > 0 || step.fault !== null || step.kind === 'crash';
}

function chosen(run: Run, wanted: (step: Step) => boolean): Set<number> {
  const byLabel = new Map(run.steps.map((step) => [step.label, step]));
  const keep = new Set<number>();
  const around = (index: number): void => {
    for (let near = index - MARGIN; near <= index + MARGIN; near += 1) keep.add(near);
  };
  around(1);
  around(run.steps.length);
  for (const violation of run.violations) around(violation.step);
  for (const step of run.steps) {
    if (!wanted(step)) continue;
    // The step, and the chain of messages that it ends.
    for (
      let link: Step | undefined = step;
      link !== undefined && !keep.has(link.index);
      link = link.sentBy === undefined ? undefined : byLabel.get(link.sentBy)
    ) {
      keep.add(link.index);
    }
  }
  return keep;
}

function violatedKeys(run: Run): string[] {
  const all = new Set(run.steps.flatMap((step) => step.changes.map((change) => change.key)));
  const keys = new Set<string>();
  for (const violation of run.violations) {
    const step = run.steps[violation.step - 1];
    for (const change of step?.changes ?? []) keys.add(change.key);
    for (const key of all) if (violation.message.includes(key)) keys.add(key);
  }
  return [...keys];
}

function names(step: Step, keys: string[]): boolean {
  const changed = step.changes.map((change) => change.key);
  return keys.some((key) => step.text.includes(key) || changed.includes(key));
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
