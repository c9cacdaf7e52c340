import { signal, type Signal } from '@preact/signals';
import type { JSX } from 'preact';
import { NAIVE_CODE } from './naive-code.ts';
import { checkPasted, choice, engine } from './state.ts';

const code: Signal<string> = signal(NAIVE_CODE);

/** A small integration of one's own, checked in a cage. */
export function OwnPanel(): JSX.Element {
  return (
    <form
      class="console"
      onSubmit={(event) => {
        event.preventDefault();
        checkPasted(code.value);
      }}
    >
      <label>
        <span>
          Your integration in JavaScript. It runs in a cage: no network, no storage, no page, only
          the ports that it is started with.
        </span>
        <textarea
          class="code"
          rows={22}
          wrap="off"
          spellcheck={false}
          value={code.value}
          onInput={({ currentTarget }) => {
            code.value = currentTarget.value;
          }}
        />
      </label>
      <div class="actions">
        <button class="primary" disabled={engine.value.is !== 'ready'}>
          Check it in {choice.value.scenario}
        </button>
        <button
          type="button"
          onClick={() => {
            code.value = NAIVE_CODE;
          }}
        >
          Start over
        </button>
      </div>
    </form>
  );
}
