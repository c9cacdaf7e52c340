import type { Step } from '../engine/trace.ts';

/** How a step hangs together with messages that were on their way while other steps ran. */
export interface Flight {
  /** An arriving message that others overtook: the step at which it left. */
  leftAt: number | null;
  /** The steps at which messages arrive that left at this one and were overtaken. */
  arrivesAt: number[];
}

/**
 * Finds, for every step, the messages that other steps overtook. They are what a race is made of, so a
 * diagram marks both of their ends; a message that arrives in the very next step needs no mark.
 */
export function flights(steps: Step[]): (step: Step) => Flight {
  const sender = new Map(steps.map((step) => [step.label, step.index]));
  const leftAt = new Map<number, number>();
  const arrivesAt = new Map<number, number[]>();
  for (const step of steps) {
    const from = step.sentBy === undefined ? undefined : sender.get(step.sentBy);
    if (from === undefined || from >= step.index - 1) continue;
    leftAt.set(step.index, from);
    arrivesAt.set(from, [...(arrivesAt.get(from) ?? []), step.index]);
  }
  return ({ index }) => ({
    leftAt: leftAt.get(index) ?? null,
    arrivesAt: arrivesAt.get(index) ?? [],
  });
}

/** Where overtaken messages arrive, as a remark for the step they left at; empty if there are none. */
export function arrivals({ arrivesAt }: Flight): string {
  if (arrivesAt.length === 0) return '';
  const more = arrivesAt.length > 3 ? ' …' : '';
  return ` ⇢ ${arrivesAt.slice(0, 3).join(', ')}${more}`;
}
