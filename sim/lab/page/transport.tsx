import type { JSX } from 'preact';
import { Icon } from './icon.tsx';
import { isPlaying, togglePlay } from './play.ts';
import { choose, engine, moveStep, run, step } from './state.ts';

/** Forward, back, play, and the way to the violation. */
export function Transport(): JSX.Element {
  const last = run.value.steps.length;
  const [violation] = run.value.violations;
  const now = step.value;
  const button = (
    name: string,
    key: string,
    icon: Parameters<typeof Icon>[0]['name'],
    act: () => void,
    isOff = false,
  ): JSX.Element => (
    <button
      class="icon"
      aria-label={name}
      title={`${name} (${key})`}
      disabled={isOff}
      onClick={act}
    >
      <Icon name={icon} />
    </button>
  );
  const mayMove = engine.value.is === 'ready' && now > 0;
  return (
    <footer class="transport" aria-label="Steps">
      <div class="group">
        {button('To the beginning', 'Home', 'first', () => choose(1))}
        {button('Back', '←', 'back', () => choose(now - 1), now <= 0)}
        {isPlaying.value
          ? button('Pause', 'Space', 'pause', togglePlay)
          : button('Play', 'Space', 'play', togglePlay)}
        {button('Forward', '→', 'forward', () => choose(now + 1), now >= last)}
        {button('To the end', 'End', 'last', () => choose(last))}
      </div>
      <label class="scrubber">
        <span class="count">
          Step <b>{now}</b> of {last}
        </span>
        <input
          type="range"
          aria-label="Step"
          min={0}
          max={last}
          value={now}
          onInput={({ currentTarget }) => choose(Number(currentTarget.value))}
        />
      </label>
      <div class="group">
        {violation !== undefined && (
          <button
            class="danger"
            title="To the violation (V)"
            onClick={() => choose(violation.step)}
          >
            ✗ Step {violation.step}
          </button>
        )}
        <span class="moves" role="group" aria-label="Move the step">
          <button
            aria-label="Earlier"
            title="Move this step before the one above it (Alt+↑)"
            disabled={!mayMove}
            onClick={() => moveStep(now, -1)}
          >
            ↑<span> Earlier</span>
          </button>
          <button
            aria-label="Later"
            title="Move this step after the one below it (Alt+↓)"
            disabled={!mayMove}
            onClick={() => moveStep(now, 1)}
          >
            ↓<span> Later</span>
          </button>
        </span>
      </div>
    </footer>
  );
}
