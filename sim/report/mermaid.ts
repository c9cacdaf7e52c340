import type { Step } from '../engine/trace.ts';
import type { Run } from '../world/run.ts';
import { changeText } from './change-text.ts';
import { stepText } from './draw-step.ts';
import { flights } from './flight.ts';
import { fold, isGap } from './fold.ts';
import { usedActors } from './lanes.ts';
import { visible } from './visible.ts';
import { wrap } from './wrap.ts';

/** GitHub draws diagrams of up to 50,000 characters and shows an error for longer ones. */
const LONGEST = 48_000;

const NOTE_CELLS = 50;

/**
 * A run as a Mermaid sequence diagram, without the Markdown fence: messages as arrows (dotted where others
 * overtook them), row changes as notes, a violating step on red ground with its invariant and sentence.
 *
 * All text is escaped: nothing that a run holds can end a line, open a block or become mark-up. Long traces
 * are folded as in `columns`, and harder where GitHub would refuse the diagram.
 */
export function mermaid(run: Run): string {
  for (let whole = 60; ; whole = Math.floor(whole / 2)) {
    const text = draw(run, whole);
    if (text.length <= LONGEST || whole === 0) return text;
  }
}

function draw(run: Run, whole: number): string {
  const items = fold(run, whole);
  const steps = items.filter((item): item is Step => !isGap(item));
  const flightOf = flights(run.steps);
  const actors = usedActors(run.actors, steps, flightOf);
  // Names go into aliases: an actor called `end` or `note` would otherwise end the diagram.
  const id = (actor: string): string => `lane${actors.indexOf(actor) + 1}`;
  const everyone = [...new Set([actors[0] ?? '', actors.at(-1) ?? ''])].map(id).join(',');
  const seed = run.seed === null ? '' : `, seed ${run.seed}`;
  const lines = [
    'sequenceDiagram',
    ...actors.map((actor) => `  participant ${id(actor)} as ${escape(actor)}`),
    `  Note over ${everyone}: ${escape(`${run.scenario}, ${run.integration}${seed}: ${run.verdict}`)}`,
  ];
  let phase: Step['phase'] = 'safety';
  for (const item of items) {
    if (isGap(item)) {
      lines.push(`  Note over ${everyone}: ${escape(item.text)}`);
      continue;
    }
    if (item.phase !== phase) {
      phase = item.phase;
      lines.push(`  Note over ${everyone}: from here on no faults, and all must converge`);
    }
    const violations = run.violations.filter(({ step }) => step === item.index);
    const from = id(item.actor);
    const flight = flightOf(item);
    const text = escape(`${item.index}. ${stepText(item, flight)}`);
    if (violations.length > 0) lines.push('  rect rgb(255, 224, 224)');
    if (flight.ends !== null) {
      const head = flight.lost ? 'x' : '>>';
      const arrow = `-${flight.leftAt === null ? '' : '-'}${head}`;
      lines.push(`  ${id(flight.ends.from)}${arrow}${id(flight.ends.to)}: ${text}`);
    } else {
      lines.push(`  Note over ${from}: ${item.kind === 'crash' ? '✖ ' : ''}${text}`);
    }
    const notes = [
      ...item.changes.map(changeText),
      ...violations.map(({ invariant, message }) => `✗ ${invariant}: ${message}`),
    ];
    if (notes.length > 0) {
      // Mermaid does not wrap a note by itself: one sentence would stretch the whole diagram.
      const wrapped = notes.flatMap((note) => wrap(visible(note), NOTE_CELLS)).map(escape);
      lines.push(`  Note over ${from}: ${wrapped.join('<br/>')}`);
    }
    if (violations.length > 0) lines.push('  end');
  }
  return lines.join('\n');
}

/**
 * Characters that Mermaid or HTML could read as more than themselves, as Mermaid's own entity (`#35;` is a
 * number sign): entities, line ends, comments and directives, tags, formulas. A text that begins with the
 * grammar's `wrap:` loses that word unless its colon is hidden too.
 */
function escape(text: string): string {
  return visible(text)
    .replace(/[#;%<>&$\\]/g, (character) => `#${character.codePointAt(0)};`)
    .replace(/^((?:no)?wrap):/i, '$1#58;');
}
