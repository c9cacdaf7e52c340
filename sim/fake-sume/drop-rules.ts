import type { DeliveryFilter } from './control.ts';
import type { Delivery } from './delivery.ts';
import { BadControlError } from './errors.ts';
import type { AttemptFate } from './faults/plan.ts';

/** Which of the next delivery attempts the network loses. */
export interface DropRules {
  add(filter: DeliveryFilter, times: number, what: 'request' | 'acknowledgement'): void;
  /** Uses up one of the matching rule, the oldest first. */
  lose(delivery: Delivery): AttemptFate['loss'];
  clear(): void;
}

/** No rule. */
export function createDropRules(): DropRules {
  let rules: { filter: DeliveryFilter; left: number; what: 'request' | 'acknowledgement' }[] = [];
  return {
    add(filter, times, what) {
      if (!Number.isInteger(times) || times < 1) {
        throw new BadControlError(`times is ${times}: give a whole number above 0.`);
      }
      rules.push({ filter, left: times, what });
    },
    lose(delivery) {
      const found = rules.find((rule) => matchesDelivery(rule.filter, delivery));
      if (found === undefined) return null;
      found.left -= 1;
      if (found.left === 0) rules = rules.filter((rule) => rule !== found);
      return found.what === 'request' ? 'delivery-lost' : 'acknowledgement-lost';
    },
    clear() {
      rules = [];
    },
  };
}

/** Whether a filter means a delivery; a field that is not given means any. */
export function matchesDelivery(filter: DeliveryFilter, delivery: Delivery): boolean {
  return (
    (filter.jobId === undefined || filter.jobId === delivery.jobId) &&
    (filter.event === undefined || filter.event === delivery.event) &&
    (filter.kind === undefined || filter.kind === delivery.kind)
  );
}
