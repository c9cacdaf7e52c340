import type { Option } from '../engine/call.ts';
import type { Chooser } from '../engine/chooser.ts';
import type { Observation } from '../engine/engine.ts';
import type { Event } from '../engine/exploration.ts';
import { conflict, NOTHING, type Footprint } from '../engine/footprint.ts';
import { NondeterminismError } from './nondeterminism-error.ts';

/** Follows a prefix, then takes whatever does not sleep, and writes down what else could have been taken. */
export interface ExploringChooser extends Chooser {
  /** Faults that could have been put into the schedule, by label. */
  readonly possibleFaults: ReadonlySet<string>;
  readonly isRedundant: boolean;
  events(observations: readonly Observation[]): Event[];
}

/** @param faults labels of the faults that this schedule holds: the step itself is then not to be had without. */
export function createExploringChooser(options: {
  prefix: readonly string[];
  sleeping: ReadonlyMap<string, Footprint>;
  faults: ReadonlySet<string>;
  observations: () => readonly Observation[];
}): ExploringChooser {
  const { prefix, faults } = options;
  const sleeping = new Map(options.sleeping);
  const possibleFaults = new Set<string>();
  const decisions: { label: string; enabled: readonly string[] }[] = [];
  let isRedundant = false;
  const faultOf = new Map([...faults].map((label) => [label.split(' ✗ ')[0] ?? label, label]));

  /** Steps as this set of faults has them. */
  const allowed = (choices: readonly Option[]): Option[] =>
    choices.filter(({ label, fault }) => {
      if (fault !== null) {
        possibleFaults.add(label);
        return faults.has(label);
      }
      // A step that this schedule breaks is not to be had whole, where it can be broken.
      const broken = faultOf.get(label);
      return broken === undefined || !choices.some((other) => other.label === broken);
    });

  return {
    possibleFaults,
    get isRedundant() {
      return isRedundant;
    },

    choose: (choices, preferred) => {
      const index = decisions.length;
      if (index > prefix.length - 1 && index > 0) {
        const last = options.observations()[index - 1];
        for (const [label, footprint] of sleeping) {
          if (last !== undefined && conflict(last.footprint, footprint)) sleeping.delete(label);
        }
      }
      const possible = allowed(choices);
      const enabled = possible.map(({ label }) => label);
      const wanted = prefix[index];
      let option: Option | undefined;
      if (wanted !== undefined) {
        option = possible.find(({ label }) => label === wanted);
        if (option === undefined) {
          throw new NondeterminismError(
            `The search took the same ${index} steps again, and the runs part at step ${index + 1}: "${wanted}" ` +
              'could be taken there before, and now it cannot; what can be taken is ' +
              `${enabled.map((label) => `"${label}"`).join(', ')}.`,
          );
        }
      } else {
        const awake = possible.filter(({ label }) => !sleeping.has(label));
        option = awake.find(({ pending }) => pending === preferred.pending) ?? awake[0];
        if (option === undefined) {
          isRedundant = true;
          return null;
        }
      }
      decisions.push({ label: option.label, enabled });
      return option;
    },

    events: (observations) =>
      decisions.map(({ label, enabled }, index) => {
        const observation = observations[index];
        const after = decisions[index + 1]?.enabled ?? [];
        return {
          label,
          enabled,
          footprint: observation?.footprint ?? NOTHING,
          cause: observation?.cause ?? -1,
          disabled: enabled.filter((other) => other !== label && !after.includes(other)),
        };
      }),
  };
}
