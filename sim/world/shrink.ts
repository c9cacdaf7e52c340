import {
  createOrderChooser,
  createRecordedChooser,
  type Chooser,
  type Deviation,
  type Rule,
} from '../engine/chooser.ts';
import type { Observation } from '../engine/engine.ts';
import { ledTo } from '../engine/led-to.ts';
import { decodeToken } from '../engine/token.ts';
import type { Counterexample } from './counterexample.ts';
import { NondeterminismError } from './nondeterminism-error.ts';
import { findRace } from './find-race.ts';
import type { InvariantName, Run, Violation } from './run.ts';
import { smallestSublist } from './smallest-sublist.ts';

/** Plays one schedule from empty tables. */
export type Play = (
  chooser: Chooser,
  recipe: { faults: number; rule: Rule; without: readonly string[] },
  onObservations: (observations: () => readonly Observation[]) => void,
) => Promise<Run>;

/** A run that violates the invariant, and what is to be known of it to make a smaller one. */
interface Failure {
  run: Run;
  violation: Violation;
  /** Those taken up to the violation: the others change nothing about it. */
  deviations: readonly Deviation[];
  without: readonly string[];
  observations: readonly Observation[];
}

/**
 * Schedules that a search for something smaller may run. What is shipped needs 40 at the most, so this ends none
 * of it; it ends one that would keep somebody waiting for minutes to spare them a few steps.
 */
const MOST_SCHEDULES = 500;

/** A context switch costs a reader more than a step does. */
const STEPS_PER_DEVIATION = 2;

/**
 * Makes a failing run as small as it gets while the same invariant still breaks, and finds what races in it.
 *
 * What did not lead to the violation is moved behind it, where it is no part of the story; then orders and
 * activities are left out, then deviations from run-to-completion (faults are among these), each as many as
 * can be, by fast-check; and all over again for as long as that helps.
 *
 * @param maxSchedules ends it with the smallest so far; the few that check and explain the outcome are run beside.
 * @throws {NondeterminismError} if the run does not fail again when it is replayed.
 */
export async function shrink(
  play: Play,
  failing: Run,
  invariant: InvariantName,
  maxSchedules: number = MOST_SCHEDULES,
): Promise<Counterexample> {
  const recipe = decodeToken(failing.token);
  let { faults } = recipe;
  let schedules = 0;
  let complete = true;
  const attempt = async (
    chooser: Chooser,
    without: readonly string[],
    rule: Rule = 2,
  ): Promise<Failure | null> => {
    schedules += 1;
    let observe: () => readonly Observation[] = () => [];
    const run = await play(chooser, { faults, rule, without }, (observations) => {
      observe = observations;
    });
    const violation = run.violations.find((one) => one.invariant === invariant);
    // Smaller, but not to be judged any more, is no smaller counterexample.
    if (violation === undefined || run.verdict !== 'fail') return null;
    const story = new Set(run.steps.slice(0, violation.step).map(({ label }) => label));
    const deviations = decodeToken(run.token).deviations.filter(({ take }) => story.has(take));
    return { run, violation, deviations, without, observations: observe() };
  };

  let best = await attempt(createRecordedChooser(recipe.deviations), recipe.without, recipe.rule);
  if (best === null) {
    throw new NondeterminismError(
      `The run violated ${invariant}, and its replay does not: there is nothing to shrink.`,
    );
  }
  const smaller = async (...tried: Parameters<typeof attempt>): Promise<Failure | null> => {
    complete &&= schedules < maxSchedules;
    return complete ? attempt(...tried) : null;
  };
  const better = async (...tried: Parameters<typeof attempt>): Promise<boolean> => {
    const failure = await smaller(...tried);
    best = failure ?? best;
    return failure !== null;
  };
  // Also turns the deviations of an old token into ones by the present rule.
  await better(createOrderChooser(storyOf(best)), best.without);
  for (let size = Infinity; sizeOf(best) < size;) {
    size = sizeOf(best);
    for (const removable of [orders, activities]) {
      const { run, without } = best;
      const story = storyOf(best);
      const names = removable(run);
      await smallestSublist(names, (kept) => {
        const left = names.filter((name) => !kept.includes(name));
        return better(createOrderChooser(story), [...without, ...left]);
      });
    }
    // One may come right after another, and would not come without it: in the order of the story it does.
    const { without } = best;
    const story = storyOf(best);
    const taken = best.deviations.map(({ take }) => take);
    await smallestSublist(taken, (kept) => {
      const left = taken.filter((label) => !kept.includes(label));
      return better(createOrderChooser(story.filter((label) => !left.includes(label))), without);
    });
    await smallestSublist(best.deviations, (kept) => better(createRecordedChooser(kept), without));
    const told = await smaller(createOrderChooser(storyOf(best)), without);
    if (told !== null && sizeOf(told) < sizeOf(best)) best = told;
  }

  // The token's own run: with no deviation after the violation, and no more faults than it has.
  faults = best.run.steps
    .slice(0, best.violation.step)
    .filter(({ fault }) => fault !== null).length;
  best = (await attempt(createRecordedChooser(best.deviations), best.without)) ?? best;
  const { run, violation, deviations, without, observations } = best;
  const race = await findRace(run, observations, violation.step - 1, (chooser) => {
    schedules += 1;
    return play(chooser, { faults, rule: 2, without }, () => {});
  });
  const steps = run.steps.slice(0, violation.step);
  const violations = run.violations.filter(({ step }) => step <= violation.step);
  return {
    invariant,
    run: { ...run, steps, violations, actors: actorsOf(run, steps) },
    steps,
    violation,
    deviations,
    without,
    token: run.token,
    schedules,
    complete,
    race,
  };
}

function sizeOf({ violation, deviations }: Failure): number {
  return violation.step + STEPS_PER_DEVIATION * deviations.length;
}

/** Labels of the steps that led to the violation. What is seen only in the end is owed to all of them. */
function storyOf({ run, violation, observations }: Failure): string[] {
  if (violation.step === run.steps.length) return run.steps.map(({ label }) => label);
  return ledTo(observations, violation.step - 1).flatMap((index) => run.steps[index]?.label ?? []);
}

function orders({ steps }: Run): string[] {
  return [...new Set(steps.flatMap(({ task }) => /^submit\/[^~]+/.exec(task)?.[0] ?? []))];
}

/**
 * What can be left out beside orders: a poll, a sweep, and whatever the world does but ending a job. Its webhook
 * stays too: an integration may count on one that is sent.
 */
function activities({ steps }: Run): string[] {
  return [
    ...new Set(
      steps.flatMap(({ task, label }) => {
        if (/^(poll\/.*|sweep\/\d+|user\/.*)$/.test(task)) return [task];
        if (/^sume\/.* (starts|announces|contradicts)$/.test(label)) return [label];
        return task.startsWith('attack/') ? [label] : [];
      }),
    ),
  ];
}

function actorsOf(run: Run, steps: Run['steps']): string[] {
  return run.actors.filter((lane) => steps.some(({ actor, to }) => actor === lane || to === lane));
}
