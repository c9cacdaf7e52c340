import type { JSX } from 'preact';
import { whyItMatters, type Run } from '../../index.ts';
import {
  choice,
  compareWith,
  engine,
  isFirstVisit,
  makeSmaller,
  notice,
  other,
  run,
} from './state.ts';

const WORD: Readonly<Record<Run['verdict'], string>> = {
  pass: '✓ pass',
  fail: '✗ fail',
  error: '? not judged',
};

/** Pass or fail at once, why in one sentence, and the one thing to do next. */
export function VerdictLine(): JSX.Element {
  const { verdict } = run.value;
  const mayAsk = engine.value.is === 'ready' || engine.value.is === 'starting';
  return (
    <section class={`verdict ${verdict}`} aria-label="Verdict">
      <strong>{WORD[verdict]}</strong>
      <p aria-live="polite">
        {sentence(run.value)}{' '}
        {verdict === 'fail' && !isFirstVisit.value && <Matters run={run.value} />}
        <NotChosen run={run.value} />
      </p>
      <div class="actions">
        {other.value !== null ? (
          <button onClick={() => (other.value = null)}>Close the comparison</button>
        ) : (
          <>
            {verdict === 'fail' && !isFirstVisit.value && (
              <button disabled={!mayAsk} onClick={makeSmaller}>
                Make it smaller
              </button>
            )}
            {run.value.integration !== 'guarded' && (
              <button class="primary" disabled={!mayAsk} onClick={() => compareWith('guarded')}>
                Run it guarded
              </button>
            )}
          </>
        )}
      </div>
    </section>
  );
}

function sentence(shown: Run): string {
  if (isFirstVisit.value) {
    return 'A poll was answered before the job ended, and written after: the finished job goes back to queued.';
  }
  const [violation] = shown.violations;
  if (violation !== undefined) return `Step ${violation.step}: ${violation.message}`;
  if (shown.verdict === 'error') return shown.error?.message ?? 'No reason was given.';
  return `No invariant was violated in ${shown.steps.length} steps, and all converged.`;
}

function Matters({ run: { violations } }: { run: Run }): JSX.Element | null {
  const [violation] = violations;
  if (violation === undefined) return null;
  return <span class="matters">{whyItMatters[violation.invariant]}</span>;
}

/** Whose run this is, where something else has been chosen above and not run yet. */
function NotChosen({ run: { scenario, integration } }: { run: Run }): JSX.Element | null {
  const { value: chosen } = choice;
  if (scenario === chosen.scenario && integration === chosen.integration) return null;
  return (
    <span class="not-chosen">
      This is {integration} in {scenario}; press Run for what is chosen above.
    </span>
  );
}

/** One pane's own verdict, where two are compared. */
export function PaneVerdict({ run: shown }: { run: Run }): JSX.Element {
  const [violation] = shown.violations;
  return (
    <h2 class={`pane-verdict ${shown.verdict}`}>
      <span>{shown.integration}</span>
      <strong>{WORD[shown.verdict]}</strong>
      {violation !== undefined && <small>at step {violation.step}</small>}
    </h2>
  );
}

/** What could not be done and why, or what a move has changed. */
export function NoticeLine(): JSX.Element {
  const broken = engine.value.is === 'broken' ? engine.value.text : null;
  const text = broken ?? notice.value;
  return (
    <div role="status" class="notice-place">
      {text !== null && (
        <p class={`notice${broken === null ? '' : ' broken'}`}>
          {text}
          {broken === null && (
            <button class="quiet" aria-label="Close" onClick={() => (notice.value = null)}>
              ×
            </button>
          )}
        </p>
      )}
    </div>
  );
}
