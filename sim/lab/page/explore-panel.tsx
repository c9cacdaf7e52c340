import type { JSX } from 'preact';
import { cancelSearch, choice, engine, explore, openToken, run, search } from './state.ts';

/** A search through all orders: how far it is, and the failing ones, shortest first. */
export function ExplorePanel(): JSX.Element {
  const { value } = search;
  const { scenario, integration, faults } = choice.value;
  const isRunning = value !== null && value.ended === null;
  return (
    <div class="explore">
      <p>
        Every inequivalent order of <b>{scenario}</b> under <b>{integration}</b>,{' '}
        {faultsText(faults)}.
      </p>
      <div class="actions">
        {isRunning ? (
          <button onClick={cancelSearch} disabled={value.isCanceled}>
            Cancel
          </button>
        ) : (
          <button class="primary" disabled={engine.value.is !== 'ready'} onClick={explore}>
            Explore
          </button>
        )}
      </div>
      {value !== null && (
        <>
          <div role="status">
            {isRunning && (
              <progress
                aria-label="Search"
                max={value.faultSets}
                value={value.faultSets - value.faultSetsLeft - 0.5}
              />
            )}
            <p>{summary(value)}</p>
          </div>
          {value.failures.length > 0 && (
            <ol class="failures">
              {value.failures.map(({ token, steps, at, text }) => (
                <li key={token}>
                  <button
                    aria-current={run.value.token === token}
                    disabled={isRunning}
                    onClick={() => openToken(token)}
                  >
                    <b>{at === 0 ? `${steps} steps` : `step ${at} of ${steps}`}</b>
                    <span>{text}</span>
                  </button>
                </li>
              ))}
            </ol>
          )}
        </>
      )}
    </div>
  );
}

function faultsText(faults: number): string {
  if (faults === 0) return 'without faults';
  return `with up to ${faults === 1 ? 'one fault' : `${faults} faults`}`;
}

function summary({
  schedules,
  faultSets,
  faultSetsLeft,
  failures,
  ended,
  isCanceled,
  choice: of,
}: NonNullable<typeof search.value>): string {
  const found =
    failures.length === 0
      ? 'none fails'
      : `${failures.length}${failures.length >= 100 ? ' or more' : ''} fail`;
  const sets =
    faultSets === 1 ? '' : `, ${faultSets - faultSetsLeft} of ${faultSets} sets of faults`;
  const so = `${schedules} ${schedules === 1 ? 'schedule' : 'schedules'} of ${of.scenario}${sets}: ${found}`;
  if (ended === null) return `${so} so far.`;
  const orders =
    ended.orders === null ? '' : ` They stand for ${ended.orders.toLocaleString('en')} orders.`;
  if (ended.complete) return `${so}. That is all there are.${orders}`;
  return `${so}. ${isCanceled ? 'Canceled' : 'Stopped at the limit'}: not all orders were covered.`;
}
