import type { Hold } from '../holds.ts';
import type { RouteName } from '../route-table.ts';
import { BadCallError, type ControlCall, type ControlScope, type Operation } from './operation.ts';
import { count, deliveryFilter, object, route, text } from './shapes.ts';

/** What is kept back, and how it goes on. */
export const HOLD_OPERATIONS: readonly Operation[] = [
  {
    method: 'GET',
    path: '/holds',
    id: 'holds',
    summary: 'The holds that are placed, and what they keep back.',
    run: async ({ holds }) => ({ holds: [...holds].map(([id, hold]) => showHold(id, hold)) }),
  },
  {
    method: 'POST',
    path: '/holds/deliveries',
    id: 'holdDeliveries',
    summary: 'Keeps back every matching delivery attempt until it is released or dropped.',
    body: object(deliveryFilter),
    example: { event: 'job.completed' },
    run: async (scope, { body }) => place(scope, scope.fake.control.holdDeliveries(body)),
  },
  {
    method: 'POST',
    path: '/holds/answers',
    id: 'holdAnswers',
    summary: 'Keeps back every answer of a route, after Sume did what it was asked.',
    body: object({ route, jobId: text }, ['route']),
    example: { route: 'submit' },
    run: async (scope, { body }) => {
      const { route: name, ...filter } = body as { route: RouteName; jobId?: string };
      return place(scope, scope.fake.control.holdAnswers(name, filter));
    },
  },
  {
    method: 'POST',
    path: '/holds/{holdId}/release',
    id: 'release',
    summary: 'Lets through what a hold keeps back, or the first of it. Without a count it ends.',
    body: object({ count }),
    example: { count: 1 },
    run: async (scope, call) => {
      const [id, hold] = holdOf(scope, call);
      const { count: some } = call.body as { count?: number };
      if (some === undefined) scope.holds.delete(id);
      hold.release(some);
      return showHold(id, hold);
    },
  },
  {
    method: 'POST',
    path: '/holds/{holdId}/drop',
    id: 'drop',
    summary: 'Loses what a hold keeps back, and ends it.',
    body: object({}),
    run: async (scope, call) => {
      const [id, hold] = holdOf(scope, call);
      scope.holds.delete(id);
      hold.drop();
      return showHold(id, hold);
    },
  },
];

function place(scope: ControlScope, hold: Hold): unknown {
  let number = scope.holds.size + 1;
  while (scope.holds.has(`hold-${number}`)) number += 1;
  const id = `hold-${number}`;
  scope.holds.set(id, hold);
  return showHold(id, hold);
}

function holdOf(scope: ControlScope, call: ControlCall): [string, Hold] {
  const id = call.path['holdId'] ?? '';
  const hold = scope.holds.get(id);
  if (hold === undefined) {
    throw new BadCallError(
      `There is no hold ${JSON.stringify(id)}: give one that GET /__sim/holds shows.`,
    );
  }
  return [id, hold];
}

function showHold(holdId: string, hold: Hold): unknown {
  return { holdId, held: hold.held };
}
