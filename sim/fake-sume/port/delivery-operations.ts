import { BadCallError, type Operation } from './operation.ts';
import { count, deliveryFilter, object, text } from './shapes.ts';

/** What was sent, and what is lost of what will be. */
export const DELIVERY_OPERATIONS: readonly Operation[] = [
  {
    method: 'GET',
    path: '/deliveries',
    id: 'deliveries',
    summary: 'Everything that was sent, with every attempt and what was answered to it.',
    query: { jobId: 'Only of this job.' },
    run: async ({ fake }, { query }) => ({
      deliveries: fake.deliveries.filter(
        ({ jobId }) => query['jobId'] === undefined || query['jobId'] === jobId,
      ),
    }),
  },
  {
    method: 'POST',
    path: '/deliveries/replay',
    id: 'replay',
    summary: 'Sends the bytes and headers of an earlier attempt once more.',
    body: object({ name: text, attempt: count }, ['name']),
    example: { name: 'webhook/job_1' },
    run: async ({ fake }, { body }) => {
      const { name, attempt } = body as { name: string; attempt?: number };
      const delivery = fake.deliveries.find((one) => one.name === name);
      if (delivery === undefined) {
        throw new BadCallError(
          `There is no delivery ${JSON.stringify(name)}: give a name that GET /__sim/deliveries shows.`,
        );
      }
      return { deliveries: [await fake.control.replay(delivery, attempt)] };
    },
  },
  {
    method: 'POST',
    path: '/deliveries/drop',
    id: 'dropDeliveries',
    summary: 'Loses the next attempts in the network: the request, or the receiver’s answer.',
    body: object({
      ...deliveryFilter,
      times: count,
      what: { type: 'string', enum: ['request', 'acknowledgement'] },
    }),
    example: { times: 1, what: 'acknowledgement' },
    run: async ({ fake }, { body }) => {
      await fake.control.dropDeliveries(body);
      return {};
    },
  },
];
