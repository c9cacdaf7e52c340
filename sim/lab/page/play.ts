import { signal, type Signal } from '@preact/signals';
import { everyBeat } from './pace.ts';
import { choose, run, step } from './state.ts';

/** Long enough to read a step. */
const BEAT_MS = 700;

export const isPlaying: Signal<boolean> = signal(false);
let stop: (() => void) | null = null;

/** Steps on by itself until the end, from the beginning if it is there already. */
export function togglePlay(): void {
  if (stop !== null) {
    pause();
    return;
  }
  if (step.value >= run.value.steps.length) choose(0);
  isPlaying.value = true;
  stop = everyBeat(BEAT_MS, () => {
    choose(step.value + 1);
    const isViolating = run.value.violations.some((violation) => violation.step === step.value);
    if (isViolating || step.value >= run.value.steps.length) pause();
  });
}

function pause(): void {
  stop?.();
  stop = null;
  isPlaying.value = false;
}
