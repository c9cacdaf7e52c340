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

/** Lets each task run on until it blocks, then the one that has waited longest. No faults. */
export const runToCompletion: Chooser = { choose: (_options, preferred) => preferred };

/**
 * Follows a recording. Where the recorded step is not there to be taken, `drift` says so and
 * run-to-completion goes on.
 */
export function createRecordedChooser(deviations: readonly Deviation[]): RecordedChooser {
  const takeAfter = new Map(deviations.map((deviation) => [deviation.after, deviation.take]));
  const drifts: Drift[] = [];
  return {
    drifts,
    unreached: () => [...takeAfter].map(([after, take]) => ({ after, take })),
    choose: (options, preferred, lastLabel) => {
      const take = takeAfter.get(lastLabel);
      if (take === undefined) return preferred;
      takeAfter.delete(lastLabel);
      const option = options.find((candidate) => candidate.label === take);
      if (option !== undefined) return option;
      drifts.push({ after: lastLabel, wanted: take, taken: preferred.label });
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

export interface Drift {
  after: string;
  wanted: string;
  taken: string;
}
