import type { JSX } from 'preact';
import { catalogue } from 'virtual:shipped';
import { freshSeed, MAX_SEED } from '../../index.ts';
import type { Entry } from '../shipped/catalogue.ts';
import { ExportMenu } from './export-menu.tsx';
import { choice, engine, explore, isOpening, runChoice } from './state.ts';

const MOST_FAULTS = 12;

/** What to run: the four things that a schedule is drawn from. */
export function TopBar(): JSX.Element {
  const { scenario, integration, seed, faults } = choice.value;
  const mayRun = engine.value.is === 'ready' || engine.value.is === 'starting';
  const wholeNumber = (text: string, most: number): number =>
    Math.min(Math.max(Math.trunc(Number(text)) || 0, 0), most);
  return (
    <header class="top">
      <div class="brand">
        <h1>
          <svg viewBox="0 0 16 16" width="20" height="20" aria-hidden="true">
            <path class="lanes" d="M4 1v14M12 1v14" />
            <path class="messages" d="M4 4l8 4M12 8l-8 5" />
          </svg>
          sume-sim <span>lab</span>
        </h1>
        {!isOpening.value && <EngineLine />}
      </div>
      <form
        class="picker"
        onSubmit={(event) => {
          event.preventDefault();
          runChoice();
        }}
      >
        <label class="wide">
          <span>Scenario</span>
          <select
            value={scenario}
            onChange={({ currentTarget: { value } }) => {
              const budget = catalogue.scenarios.find(({ name }) => name === value)?.budget ?? 0;
              choice.value = { ...choice.value, scenario: value, faults: budget };
            }}
          >
            {catalogue.scenarios.map(({ name }) => (
              <option key={name}>{name}</option>
            ))}
          </select>
        </label>
        <label class="wide">
          <span>Integration</span>
          <select
            value={integration}
            onChange={({ currentTarget: { value } }) => {
              choice.value = { ...choice.value, integration: value };
            }}
          >
            {catalogue.integrations.map(({ name }) => (
              <option key={name}>{name}</option>
            ))}
          </select>
        </label>
        <div class="field">
          <label for="seed">Seed</label>
          <span class="with-button">
            <input
              id="seed"
              class="seed"
              inputMode="numeric"
              value={seed}
              onChange={({ currentTarget }) => {
                choice.value = {
                  ...choice.value,
                  seed: wholeNumber(currentTarget.value, MAX_SEED),
                };
              }}
            />
            <button
              type="button"
              class="quiet"
              title="Another seed"
              aria-label="Another seed"
              onClick={() => {
                choice.value = { ...choice.value, seed: freshSeed() };
              }}
            >
              ↻
            </button>
          </span>
        </div>
        <label title="How many faults one schedule may hold, all kinds together">
          <span>Faults</span>
          <input
            class="faults"
            type="number"
            min={0}
            max={MOST_FAULTS}
            value={faults}
            onChange={({ currentTarget }) => {
              choice.value = {
                ...choice.value,
                faults: wholeNumber(currentTarget.value, MOST_FAULTS),
              };
            }}
          />
        </label>
        <div class="actions">
          <button class="primary" disabled={!mayRun}>
            Run
          </button>
          <button
            type="button"
            title="Run every order of this scenario"
            disabled={!mayRun}
            onClick={explore}
          >
            Explore
          </button>
        </div>
      </form>
      <ExportMenu />
      {!isOpening.value && <About />}
    </header>
  );
}

/** What was picked, in a sentence each, and what of it this page cannot show. */
function About(): JSX.Element {
  const { scenario, integration } = choice.value;
  const picked = [
    catalogue.scenarios.find(({ name }) => name === scenario),
    catalogue.integrations.find(({ name }) => name === integration),
  ].filter((entry) => entry !== undefined);
  return (
    <div class="about" role="note" aria-label="What was picked">
      {picked.map((entry) => (
        <p key={entry.name}>
          <b>{entry.name}</b> {entry.text}
          {entry.needsServer && <strong> {needsServer(entry)}</strong>}
        </p>
      ))}
    </div>
  );
}

function needsServer({ name }: Entry): string {
  return (
    `⚠ Not here: PostgreSQL in the page has one connection, and this takes several. See it with ` +
    `“sume-sim explore open-transaction${name === 'open-transaction' ? '' : ` --integration ${name}`} --database postgres”.`
  );
}

/** What the simulator is doing, and how far it is. */
export function EngineLine(): JSX.Element {
  const { value } = engine;
  if (value.is === 'starting') {
    return (
      <p class="engine" role="status">
        <progress max={1} value={value.done} aria-label="Start of the database" /> {value.text}…
      </p>
    );
  }
  if (value.is === 'busy') {
    return (
      <p class="engine" role="status">
        <progress aria-label="Work under way" /> {value.text}…
      </p>
    );
  }
  return (
    <p class="engine" role="status">
      {value.is === 'ready' ? (
        <span class="ready">PostgreSQL is running</span>
      ) : (
        <span class="bad">not running</span>
      )}
    </p>
  );
}
