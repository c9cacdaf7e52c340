import type { Option } from './call.ts';

/** Decides what happens next. */
export interface Chooser {
  /** One of the options, or null to end the schedule here. `preferred` is what run-to-completion takes. */
  choose(options: readonly Option[], preferred: Option, lastLabel: string): Option | null;
}

/**
 * A point where a schedule leaves run-to-completion: after the step `after` (empty at the very beginning)
 * it takes `take`. Labels are stable, so a schedule written down like this survives edits elsewhere.
 */
export interface Deviation {
  after: string;
  take: string;
}

/**
 * The rule of run-to-completion that deviations are counted from. By either the task that ran goes on until it
 * blocks, then the one that has waited longest, then time. By rule 2 a step that was passed over, because
 * another task was let before it, comes after all the others: so one deviation holds it back for as long as
 * anything else goes on, where by rule 1 each of those needs a deviation of its own.
 */
export type Rule = 1 | 2;

/** Lets each task run on until it blocks, then the one that has waited longest. No faults. */
export const runToCompletion: Chooser = { choose: (_options, preferred) => preferred };

/** Takes of these steps, in this order, whichever can be taken; where none can, run-to-completion goes on. */
export function createOrderChooser(labels: readonly string[]): Chooser {
  const left = new Set(labels);
  return {
    choose: (options, preferred) => {
      for (const label of left) {
        const option = options.find((candidate) => candidate.label === label);
        if (option === undefined) continue;
        left.delete(label);
        return option;
      }
      return preferred;
    },
  };
}

/**
 * Follows a recording. Where the recorded step is not there yet, because its task has got a step that it did
 * not have, the task runs on until it is. Where it never is, `drifts` says so and run-to-completion goes on.
 */
export function createRecordedChooser(deviations: readonly Deviation[]): RecordedChooser {
  const takeAfter = new Map(deviations.map((deviation) => [deviation.after, deviation.take]));
  const drifts: Drift[] = [];
  /** What is to be taken and is not there yet; as a drift, in case it never is. */
  let awaited: Drift | null = null;
  let step = 0;
  return {
    drifts,
    unreached: () => [
      ...(awaited === null ? [] : [{ after: awaited.after, take: awaited.wanted }]),
      ...[...takeAfter].map(([after, take]) => ({ after, take })),
    ],
    choose: (options, preferred, lastLabel) => {
      step += 1;
      const take = awaited?.wanted ?? takeAfter.get(lastLabel);
      if (take === undefined) return preferred;
      if (awaited === null) takeAfter.delete(lastLabel);
      const option = options.find((candidate) => candidate.label === take);
      if (option !== undefined) {
        awaited = null;
        return option;
      }
      const onTheWay = options.find(
        ({ fault, pending }) => fault === null && take.startsWith(`${pending.task.name} `),
      );
      const taken = onTheWay ?? preferred;
      awaited ??= { step, after: lastLabel, wanted: take, taken: taken.label };
      if (onTheWay !== undefined) return onTheWay;
      drifts.push(awaited);
      awaited = null;
      return preferred;
    },
  };
}

export interface RecordedChooser extends Chooser {
  /** Where the recording asked for a step that could not be taken, in order. */
  readonly drifts: readonly Drift[];
  /** Deviations whose moment never came. */
  unreached(): readonly Deviation[];
}

/** A step of a recording that could not be taken. */
export interface Drift {
  /** Which step of the schedule it would have been, 1 for the first. */
  step: number;
  after: string;
  wanted: string;
  taken: string;
}
