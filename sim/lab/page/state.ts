import { batch, computed, signal, type ReadonlySignal, type Signal } from '@preact/signals';
import { build, catalogue, dump, opening } from 'virtual:shipped';
import type { Run, WatchedTables } from '../../index.ts';
import type { Choice, Explored, Failure, QueryTable } from '../simulation/protocol.ts';
import { sameMoment } from '../trace/same-moment.ts';
import { openCage, type Cage } from './cage.ts';
import { readLink, writeLink } from './link.ts';
import { AskError, createSimulation, type Simulation } from './simulation.ts';

/** How the worker is. */
export type Engine =
  | { is: 'starting'; text: string; done: number }
  | { is: 'ready' }
  | { is: 'busy'; text: string }
  | { is: 'broken'; text: string };

/** What a search has come to. */
export interface Search {
  choice: Choice;
  schedules: number;
  faultSets: number;
  faultSetsLeft: number;
  failures: Failure[];
  /** Null while it runs. */
  ended: Explored | null;
  isCanceled: boolean;
}

/** The most schedules of one search: some minutes' worth. */
const MOST_SCHEDULES = 5_000;

/** Everything that the page shows follows from these. */
export const run: Signal<Run> = signal(opening);
export const step: Signal<number> = signal(landing(opening));
/** The same schedule under the guarded core, beside it; null where nothing is compared. */
export const other: Signal<Run | null> = signal(null);
export const otherStep: Signal<number> = signal(0);
export const choice: Signal<Choice> = signal(choiceOf(opening));
export const engine: Signal<Engine> = signal({
  is: 'starting',
  text: 'Starting the database',
  done: 0,
});
/** What a person should know now: what could not be done and why, or what has changed. */
export const notice: Signal<string | null> = signal(null);
/** The tables of pasted code, by the name that it got. */
export const tablesOf: Map<string, WatchedTables> = new Map(
  catalogue.integrations.map(({ name, tables }) => [name, tables]),
);
export const search: Signal<Search | null> = signal(null);
/** True until a linked schedule has been replayed: until then there is nothing to show. */
export const isOpening: Signal<boolean> = signal(readLink(location.hash) !== null);
export const isFirstVisit: ReadonlySignal<boolean> = computed(
  () => run.value.token === opening.token,
);

/** The step to land on: where something was violated, or the end. */
export function landing({ violations, steps }: Run): number {
  return violations[0]?.step ?? steps.length;
}

let simulation: Simulation | null = null;

/** Starts the worker, and opens the schedule that the address names, if it does. */
export function start(): void {
  const missing = whatIsMissing();
  if (missing !== null) {
    engine.value = { is: 'broken', text: missing };
    isOpening.value = false;
    return;
  }
  simulation = createSimulation((reason) => {
    engine.value = {
      is: 'broken',
      text: `The simulator broke down: ${reason}. Reload the page to start it again.`,
    };
    isOpening.value = false;
  });
  const dumpUrl = new URL(dump, document.baseURI).href;
  const { answer } = simulation.ask({ kind: 'open', dumpUrl, build }, (made) => {
    if (made.of === 'open') engine.value = { is: 'starting', text: made.text, done: made.done };
  });
  answer.then(
    () => {
      if (engine.value.is === 'starting') engine.value = { is: 'ready' };
    },
    (error: Error) => {
      engine.value = { is: 'broken', text: error.message };
      isOpening.value = false;
    },
  );
  followAddress();
  addEventListener('hashchange', followAddress);
}

function whatIsMissing(): string | null {
  if (typeof WebAssembly === 'undefined') {
    return 'This browser has no WebAssembly, which PostgreSQL in the page needs: you can look at this race, but not run others. Another browser, or another setting of this one, will do.';
  }
  if (typeof Worker === 'undefined' || crypto.subtle === undefined) {
    return 'The simulator needs workers and WebCrypto, which browsers give only to https:// and 127.0.0.1. You can look at this race; to run others, open the page at one of these.';
  }
  return null;
}

function followAddress(): void {
  const linked = readLink(location.hash);
  if (linked === null || linked.token === run.value.token) {
    isOpening.value = false;
    if (typeof linked?.step === 'number') choose(linked.step);
    return;
  }
  isOpening.value = true;
  void work('Replaying the linked schedule', async (asked) => {
    try {
      const found = await asked.ask({ kind: 'replay', token: linked.token }).answer;
      show(found, linked.step ?? landing(found));
    } finally {
      isOpening.value = false;
    }
  });
}

/** One thing after another: says what goes on, and what went wrong. */
async function work(text: string, task: (asked: Simulation) => Promise<void>): Promise<void> {
  if (simulation === null) return;
  const isStarting = engine.value.is === 'starting';
  if (!isStarting) engine.value = { is: 'busy', text };
  notice.value = null;
  try {
    await task(simulation);
  } catch (error) {
    notice.value = error instanceof Error ? error.message : String(error);
    if (error instanceof AskError && error.cage !== null) endCage(error.cage);
  } finally {
    if (engine.value.is !== 'broken') engine.value = { is: 'ready' };
  }
}

function choiceOf({ scenario, integration, seed }: Run): Choice {
  const budget = catalogue.scenarios.find(({ name }) => name === scenario)?.budget ?? 0;
  return { scenario, integration, seed: seed ?? 1, faults: budget };
}

function show(found: Run, at: number): void {
  batch(() => {
    run.value = found;
    step.value = Math.min(at, found.steps.length);
    other.value = null;
    if (
      found.scenario !== choice.value.scenario ||
      found.integration !== choice.value.integration
    ) {
      choice.value = choiceOf(found);
    }
  });
  history.replaceState(null, '', writeLink({ token: found.token, step: null }));
}

/** Takes a step of the run, and the same moment beside it. */
export function choose(index: number): void {
  const wanted = Math.min(Math.max(index, 0), run.value.steps.length);
  batch(() => {
    step.value = wanted;
    if (other.value !== null) otherStep.value = sameMoment(run.value, wanted, other.value);
  });
}

export function runChoice(): void {
  const wanted = choice.value;
  void work(`Running ${wanted.scenario}`, async (asked) => {
    const found = await asked.ask({ kind: 'run', choice: wanted }).answer;
    show(found, landing(found));
  });
}

/** The same schedule under another integration, beside this one. */
export function compareWith(integration: string): void {
  const { token } = run.value;
  void work(`Running it under ${integration}`, async (asked) => {
    const found = await asked.ask({ kind: 'replay', token, instead: integration }).answer;
    if (run.value.token !== token) return;
    batch(() => {
      other.value = found;
      otherStep.value = sameMoment(run.value, step.value, found);
    });
  });
}

export function openToken(token: string): void {
  void work('Replaying', async (asked) => {
    const found = await asked.ask({ kind: 'replay', token }).answer;
    show(found, landing(found));
  });
}

export function makeSmaller(): void {
  const { token } = run.value;
  void work('Looking for the smallest run that still fails', async (asked) => {
    const found = await asked.ask({ kind: 'shrink', token }).answer;
    show(found, landing(found));
  });
}

/**
 * Moves a step past its neighbour and runs what follows anew. What its own task did right before it (or does right
 * after it) goes with it: a task takes its steps in the order of its code.
 */
export function moveStep(index: number, by: -1 | 1): void {
  const { steps, token, verdict } = run.value;
  const moved = steps[index - 1];
  if (moved === undefined) return;
  let end = index - 1;
  while (steps[end + by]?.task === moved.task) end += by;
  const neighbour = steps[end + by];
  if (neighbour === undefined) return;
  if (moved.phase === 'liveness' || neighbour.phase === 'liveness') {
    notice.value = 'From where faults stop the order is fixed: only steps before it can be moved.';
    return;
  }
  const labels = steps.filter(({ phase }) => phase === 'safety').map(({ label }) => label);
  const [first, last] = by < 0 ? [end, index - 1] : [index - 1, end];
  const block = labels.splice(first, last - first + 1);
  labels.splice(first + by, 0, ...block);
  void work('Running the new order', async (asked) => {
    const found = await asked.ask({ kind: 'order', token, labels }).answer;
    const at = found.steps.find(({ label }) => label === moved.label)?.index;
    const now = found.steps.find(({ label }) => label === neighbour.label)?.index;
    if (at !== undefined && now !== undefined && (by < 0 ? at > now : at < now)) {
      const [early, late] = by < 0 ? [neighbour, moved] : [moved, neighbour];
      notice.value = `“${late.label}” cannot come before “${early.label}”: it only comes about through it.`;
      return;
    }
    show(found, at ?? landing(found));
    notice.value = found.verdict === verdict ? `Moved. ${STILL[verdict]}` : CHANGED[found.verdict];
  });
}

const STILL: Readonly<Record<Run['verdict'], string>> = {
  pass: 'It still passes.',
  fail: 'It still fails.',
  error: 'It still cannot be judged.',
};
const CHANGED: Readonly<Record<Run['verdict'], string>> = {
  pass: 'In this order it passes.',
  fail: 'In this order it fails.',
  error: 'In this order it cannot be judged.',
};

/** Pasted code that was checked, by the name that it got: what it was checked in, and the code itself. */
const pasted = new Map<string, { cage: Cage; code: string }>();
/** Each is a thread of its own. Of older ones the schedules cannot be replayed any more. */
const MOST_CAGES = 8;

/** With whatever still runs in it. */
function endCage(name: string): void {
  pasted.get(name)?.cage.remove();
}

function keepCage(name: string, cage: Cage, code: string, asked: Simulation): void {
  pasted.set(name, { cage, code });
  for (const [oldest] of pasted) {
    if (pasted.size <= MOST_CAGES) return;
    endCage(oldest);
    pasted.delete(oldest);
    asked.ask({ kind: 'forget', integration: oldest }).answer.catch(() => {});
  }
}

/** The code that a run is of, if it was pasted here. */
export function pastedCode(integration: string): string | null {
  return pasted.get(integration)?.code ?? null;
}

/**
 * Checks pasted code in a cage, schedule after schedule from the chosen seed on, until one fails. Only ever called
 * because a person pressed the button.
 */
export function checkPasted(code: string): void {
  const wanted = choice.value;
  void work('Checking your code', async (asked) => {
    const cage = await openCage(code);
    const { port, broke } = cage;
    const { answer } = asked.ask({ kind: 'check', choice: wanted, cage: port }, () => {}, [port]);
    // One of the two is always left behind.
    answer.catch(() => {});
    const checked = await Promise.race([answer, broke]).catch((error: unknown) => {
      cage.remove();
      throw error;
    });
    const { run: found, tables, schedules } = checked;
    keepCage(found.integration, cage, code, asked);
    tablesOf.set(found.integration, tables);
    show(found, landing(found));
    choice.value = wanted;
    notice.value =
      found.verdict === 'pass'
        ? `${schedules} schedules of ${wanted.scenario} passed. Other scenarios and more faults may still find something.`
        : `Schedule ${schedules} of ${wanted.scenario} shows something. The link to it works in this page only: your code is not in it.`;
  });
}

let searching: number | null = null;

export function explore(): void {
  const wanted = choice.value;
  const begun: Search = {
    choice: wanted,
    schedules: 0,
    faultSets: 1,
    faultSetsLeft: 0,
    failures: [],
    ended: null,
    isCanceled: false,
  };
  search.value = begun;
  void work(`Exploring ${wanted.scenario}`, async (asked) => {
    const { id, answer } = asked.ask(
      { kind: 'explore', choice: wanted, maxSchedules: MOST_SCHEDULES },
      (made) => {
        if (made.of !== 'explore' || search.value === null) return;
        const { schedules, faultSets, faultSetsLeft } = made;
        const failures =
          made.failures.length === 0
            ? search.value.failures
            : shortestFirst([...search.value.failures, ...made.failures]);
        search.value = { ...search.value, schedules, faultSets, faultSetsLeft, failures };
      },
    );
    searching = id;
    try {
      const ended = await answer;
      if (search.value !== null) {
        search.value = {
          ...search.value,
          schedules: ended.schedules,
          failures: ended.failures,
          ended,
        };
      }
    } catch (error) {
      search.value = null;
      throw error;
    } finally {
      searching = null;
    }
  });
}

export function cancelSearch(): void {
  if (searching === null || search.value === null) return;
  search.value = { ...search.value, isCanceled: true };
  simulation?.cancel(searching);
}

/** As many as the search itself keeps. */
const MOST_FAILURES = 100;

function shortestFirst(failures: Failure[]): Failure[] {
  return failures.sort((one, two) => one.steps - two.steps).slice(0, MOST_FAILURES);
}

/**
 * Puts SQL to the database as the run left it.
 *
 * @throws {AskError} the database's error.
 */
export async function query(sql: string): Promise<QueryTable[]> {
  if (simulation === null) throw new Error('The database could not be started, see above.');
  return simulation.ask({ kind: 'query', token: run.value.token, sql }).answer;
}
