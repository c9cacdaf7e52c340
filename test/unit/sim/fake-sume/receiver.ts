import type { DeliveryAttempt, Send } from '../../../../sim/fake-sume/index.ts';

/** One request that a receiver got, read. */
export interface Received {
  url: string;
  headers: Headers;
  body: string;
  attempt: DeliveryAttempt;
}

/** A webhook receiver in memory. `answer` decides what it says; without it 200. */
export function createReceiver(
  answer: (received: Received) => Response | Promise<Response> = () => new Response('ok'),
): { received: Received[]; send: Send } {
  const received: Received[] = [];
  return {
    received,
    async send(request, attempt) {
      const one = {
        url: request.url,
        headers: request.headers,
        body: await request.text(),
        attempt,
      };
      received.push(one);
      return answer(one);
    },
  };
}
