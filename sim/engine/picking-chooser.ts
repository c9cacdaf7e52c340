import type { Option } from './call.ts';
import type { Chooser } from './chooser.ts';

/** A schedule by numbers, fit to be generated and made smaller: nothing in it depends on what the code does. */
export interface Picks {
  /** Where it leaves run-to-completion. */
  departures: readonly {
    /** The step, 1 for the first. */
    at: number;
    /** Which of the other steps that could be taken, from 0 on, counted around. */
    take: number;
  }[];
  faults: readonly {
    /** The first step, 1 for the first, that may hold it; it waits for one that can. */
    at: number;
    fault: string;
  }[];
}

/** Follows run-to-completion but for what was picked. */
export function createPickingChooser({ departures, faults }: Picks): Chooser {
  const takeAt = new Map(departures.map(({ at, take }) => [at, take]));
  const waiting = [...faults];
  let step = 0;
  const faultNow = (options: readonly Option[], preferred: Option): Option | null => {
    for (const [index, { at, fault }] of waiting.entries()) {
      const possible = options.filter((option) => at <= step && option.fault === fault);
      const option = possible.find(({ pending }) => pending === preferred.pending) ?? possible[0];
      if (option === undefined) continue;
      waiting.splice(index, 1);
      return option;
    }
    return null;
  };
  return {
    choose: (options, preferred) => {
      step += 1;
      const faulty = faultNow(options, preferred);
      if (faulty !== null) return faulty;
      const take = takeAt.get(step);
      const others = options.filter((option) => option.fault === null && option !== preferred);
      if (take === undefined || others.length === 0) return preferred;
      return others[take % others.length] ?? preferred;
    },
  };
}
