import type { Step } from '../engine/trace.ts';

/** A step as a message, and how it hangs together with messages that were on their way while others ran. */
export interface Flight {
  /** The lanes that a message goes between; null for a step that one actor does by itself. */
  ends: { from: string; to: string } | null;
  /** The message never arrived. */
  lost: boolean;
  /** An arriving message that others overtook: the step at which it left. */
  leftAt: number | null;
  /** The steps at which messages arrive that left at this one and were overtaken. */
  arrivesAt: number[];
}

/**
 * Finds what a diagram draws of every step's message: both of its ends, and for one that other steps overtook
 * when it left and where it arrives. That is what a race is made of; a message that arrives in the very next
 * step needs no mark.
 */
export function flights(steps: Step[]): (step: Step) => Flight {
  const byLabel = new Map(steps.map((step) => [step.label, step]));
  const leftAt = new Map<number, number>();
  const arrivesAt = new Map<number, number[]>();
  for (const step of steps) {
    const sender = step.sentBy === undefined ? undefined : byLabel.get(step.sentBy);
    if (sender === undefined || sender.index >= step.index - 1) continue;
    leftAt.set(step.index, sender.index);
    arrivesAt.set(sender.index, [...(arrivesAt.get(sender.index) ?? []), step.index]);
  }
  return (step) => ({
    ends: endsOf(step, byLabel),
    lost: step.fault?.startsWith('drop-') === true,
    leftAt: leftAt.get(step.index) ?? null,
    arrivesAt: arrivesAt.get(step.index) ?? [],
  });
}

function endsOf(step: Step, byLabel: Map<string, Step>): Flight['ends'] {
  if (step.to !== undefined) {
    return step.to === step.actor ? null : { from: step.actor, to: step.to };
  }
  // What comes back is a step of whoever waited for it; it left where the question had arrived.
  if (step.kind !== 'answer' && step.kind !== 'acknowledgement') return null;
  const asked = step.sentBy === undefined ? undefined : byLabel.get(step.sentBy);
  const from = asked?.to ?? asked?.actor ?? step.actor;
  return from === step.actor ? null : { from, to: step.actor };
}

/** Where overtaken messages arrive, as a remark for the step they left at; empty if there are none. */
export function arrivals({ arrivesAt }: Flight): string {
  if (arrivesAt.length === 0) return '';
  const more = arrivesAt.length > 3 ? ' …' : '';
  return ` ⇢ ${arrivesAt.slice(0, 3).join(', ')}${more}`;
}
