import type { JSX } from 'preact';
import { useEffect } from 'preact/hooks';
import { Timeline } from '../timeline/timeline.tsx';
import { followKey } from './keyboard.ts';
import { RowsPanel } from './rows-panel.tsx';
import { SidePanel } from './side-panel.tsx';
import { choose, isOpening, moveStep, other, otherStep, run, step } from './state.ts';
import { EngineLine, TopBar } from './top-bar.tsx';
import { Transport } from './transport.tsx';
import { NoticeLine, PaneVerdict, VerdictLine } from './verdict-line.tsx';

export function App(): JSX.Element {
  useEffect(() => {
    addEventListener('keydown', followKey);
    return () => removeEventListener('keydown', followKey);
  }, []);
  const beside = other.value;
  return (
    <>
      <TopBar />
      <main>
        {!isOpening.value && <VerdictLine />}
        <NoticeLine />
        {isOpening.value ? (
          <div class="opening">
            <p>The linked schedule is replayed as soon as the database runs.</p>
            <EngineLine />
          </div>
        ) : beside === null ? (
          <div class="work">
            <section class="pane" aria-label="Timeline">
              <Timeline
                run={run.value}
                step={step}
                onChoose={choose}
                onMove={moveStep}
                name={`Steps of ${run.value.integration}`}
              />
            </section>
            <SidePanel />
          </div>
        ) : (
          <div class="work compared">
            <section class="pane" aria-label={run.value.integration}>
              <PaneVerdict run={run.value} />
              <Timeline
                run={run.value}
                step={step}
                onChoose={choose}
                onMove={moveStep}
                name={`Steps of ${run.value.integration}`}
              />
              <RowsPanel run={run.value} step={step} />
            </section>
            <section class="pane" aria-label={`${beside.integration}, beside it`}>
              <PaneVerdict run={beside} />
              <Timeline
                run={beside}
                step={otherStep}
                onChoose={(index) => {
                  otherStep.value = index;
                }}
                name={`Steps of ${beside.integration}, beside it`}
              />
              <RowsPanel run={beside} step={otherStep} />
            </section>
          </div>
        )}
      </main>
      {!isOpening.value && <Transport />}
    </>
  );
}
