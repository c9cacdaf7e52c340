import { signal, type Signal } from '@preact/signals';
import type { JSX } from 'preact';
import { ConsolePanel } from './console-panel.tsx';
import { ExplorePanel } from './explore-panel.tsx';
import { OwnPanel } from './own-panel.tsx';
import { RowsPanel } from './rows-panel.tsx';
import { run, search, step } from './state.ts';
import { StepCard } from './step-card.tsx';

const TABS = [
  { name: 'Rows', id: 'rows' },
  { name: 'Explore', id: 'explore' },
  { name: 'SQL', id: 'sql' },
  { name: 'Your code', id: 'own' },
] as const;

type Tab = (typeof TABS)[number]['id'];

const chosen: Signal<Tab> = signal('rows');
// A search is begun in the top bar, and seen here.
let seen: unknown = null;
search.subscribe((now) => {
  if (now !== null && now.schedules === 0 && now.ended === null && now.choice !== seen) {
    seen = now.choice;
    chosen.value = 'explore';
  }
});

/** What stands beside the timeline. */
export function SidePanel(): JSX.Element {
  const choose = (by: number): void => {
    const at = TABS.findIndex(({ id }) => id === chosen.value);
    const next = TABS[(at + by + TABS.length) % TABS.length];
    if (next === undefined) return;
    chosen.value = next.id;
    document.getElementById(`tab-${next.id}`)?.focus();
  };
  return (
    <aside class="side" aria-label="Beside the timeline">
      <div
        role="tablist"
        class="tabs"
        onKeyDown={({ key }) => {
          if (key === 'ArrowRight') choose(1);
          if (key === 'ArrowLeft') choose(-1);
        }}
      >
        {TABS.map(({ name, id }) => (
          <button
            key={id}
            id={`tab-${id}`}
            role="tab"
            aria-selected={chosen.value === id}
            aria-controls="side-content"
            tabIndex={chosen.value === id ? 0 : -1}
            onClick={() => {
              chosen.value = id;
            }}
          >
            {name}
          </button>
        ))}
      </div>
      <div
        class="side-content"
        id="side-content"
        role="tabpanel"
        aria-labelledby={`tab-${chosen.value}`}
        tabIndex={0}
      >
        {chosen.value === 'rows' && (
          <>
            <StepCard />
            <RowsPanel run={run.value} step={step} />
          </>
        )}
        {chosen.value === 'explore' && <ExplorePanel />}
        {chosen.value === 'sql' && <ConsolePanel />}
        {chosen.value === 'own' && <OwnPanel />}
      </div>
    </aside>
  );
}
