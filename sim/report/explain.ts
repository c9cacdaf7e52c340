import type { Step } from '../engine/trace.ts';
import type { Counterexample } from '../world/counterexample.ts';
import type { Palette } from './palette.ts';
import { paragraph } from './paragraph.ts';

/**
 * Why a counterexample fails, in paragraphs: the two steps that race and on what, the swap of them that was run
 * and passed, and the faults without which it does not fail. All of it was tried, none of it is guessed.
 */
export function explain(
  counterexample: Counterexample,
  options: { width: number; palette?: Palette },
): string[] {
  const { race, steps, deviations, complete } = counterexample;
  const lines: string[] = [];
  const say = (title: string, text: string): void => {
    lines.push(...paragraph(title, text, options));
  };
  const shown = (step: Step): string =>
    step.index <= steps.length
      ? `step ${step.index} (${step.label})`
      : `a step that comes too late, after the violation (${step.label})`;
  if (race !== null) {
    const { first, second, on } = race;
    say('What races', capital(`${shown(first)} and ${shown(second)}, on ${describeResource(on)}.`));
    say(
      'Swapped',
      `With "${second.label}" before "${first.label}" it passes: that order was run, and no invariant was violated.`,
    );
  }
  const faults = steps.filter(({ fault }) => fault !== null);
  // Where a limit ended the search for something smaller, it may do without one that was not tried.
  for (const { index, fault } of complete ? faults : []) {
    say('What it needs', `The fault ${fault} at step ${index}: without it this is not violated.`);
  }
  if (race === null && faults.length === 0) {
    say(
      'What races',
      deviations.length === 0
        ? 'Nothing has to: it fails with every task running on until it waits, and no fault.'
        : 'No two steps alone: no single swap that was tried makes it pass.',
    );
  }
  return lines;
}

/** A resource of the engine in words: `row:job_a` is the row of job_a. */
function describeResource(name: string): string {
  const [kind = name, of = ''] = name.split(/:(.*)/s);
  if (kind === 'row' || kind === 'data') return `the row of ${of}`;
  if (kind === 'lock' && of.startsWith('advisory/')) return `the lock of ${of.slice(9)}`;
  if (kind === 'lock') return `a lock on ${of}`;
  if (kind === 'ssi') return `what the serializable level has seen of ${of}`;
  if (kind === 'sume') return `${of} at Sume`;
  if (kind === 'process') return `whether ${of} runs`;
  if (kind === 'clock') return `the clock of ${of}`;
  return name;
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
