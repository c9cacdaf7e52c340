import { togglePlay } from './play.ts';
import { choose, landing, moveStep, run, step } from './state.ts';

const BETWEEN_TABS: ReadonlySet<string> = new Set(['ArrowLeft', 'ArrowRight']);

/** Whether a key belongs to what has the focus: a field, a menu, a button that space presses. */
function isTakenBy(target: EventTarget | null, key: string): boolean {
  if (!(target instanceof HTMLElement)) return false;
  if (target.closest('input, textarea, select, dialog') !== null) return true;
  if (target.closest('[role="tablist"]') !== null && BETWEEN_TABS.has(key)) return true;
  return key === ' ' && target.closest('button, a, summary') !== null;
}

/** The page's keys: arrows, home and end, space to play, V for the violation, Alt with an arrow to move a step. */
export function followKey(event: KeyboardEvent): void {
  if (event.ctrlKey || event.metaKey || isTakenBy(event.target, event.key)) return;
  const act = event.altKey ? MOVES[event.key] : ACTS[event.key];
  if (act === undefined) return;
  event.preventDefault();
  act();
}

const back = (): void => choose(step.value - 1);
const forward = (): void => choose(step.value + 1);

const ACTS: Readonly<Record<string, () => void>> = {
  ArrowUp: back,
  ArrowLeft: back,
  ArrowDown: forward,
  ArrowRight: forward,
  Home: () => choose(1),
  End: () => choose(run.value.steps.length),
  ' ': togglePlay,
  v: () => choose(landing(run.value)),
};

const MOVES: Readonly<Record<string, () => void>> = {
  ArrowUp: () => moveStep(step.value, -1),
  ArrowDown: () => moveStep(step.value, 1),
};
