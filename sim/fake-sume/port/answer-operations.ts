import type { ArmedAnswer, ArmedFor } from '../armed-answers.ts';
import type { RouteName } from '../route-table.ts';
import { BadCallError, type Operation } from './operation.ts';
import { anyObject, count, object, route, text } from './shapes.ts';

/** What was asked, and what will be answered. */
export const ANSWER_OPERATIONS: readonly Operation[] = [
  {
    method: 'GET',
    path: '/requests',
    id: 'requests',
    summary: 'The newest requests that arrived, with their answers.',
    run: async ({ fake }) => ({ requests: fake.requests }),
  },
  {
    method: 'POST',
    path: '/answers',
    id: 'nextAnswer',
    summary: 'Sets what the next request of a route gets instead of its answer.',
    body: object(
      {
        route,
        answer: {
          type: 'object',
          properties: {
            kind: {
              type: 'string',
              enum: [
                'rate-limited',
                'server-error',
                'html',
                'empty',
                'response',
                'request-lost',
                'answer-lost',
                'no-answer',
                'slow',
              ],
            },
            status: { type: 'integer', minimum: 200, maximum: 599 },
            retryAfterSeconds: { type: 'integer', minimum: 0 },
            headers: anyObject,
            body: text,
            ms: { type: 'number', minimum: 0, maximum: 86_400_000 },
          },
          required: ['kind'],
          additionalProperties: false,
        },
        jobId: text,
        times: count,
        afterEffect: { type: 'boolean' },
      },
      ['route', 'answer'],
    ),
    example: { route: 'status', answer: { kind: 'rate-limited', retryAfterSeconds: 3 }, times: 2 },
    run: async ({ fake }, { body }) => {
      const {
        route: name,
        answer,
        ...options
      } = body as unknown as {
        route: RouteName;
        answer: ArmedAnswer;
      } & ArmedFor;
      if (answer.kind === 'slow' && answer.ms === undefined) {
        throw new BadCallError('body.answer.ms is missing: say how much later the answer comes.');
      }
      if (answer.kind === 'response' && answer.status === undefined) {
        throw new BadCallError('body.answer.status is missing: give the status of the response.');
      }
      await fake.control.nextAnswer(name, answer, options);
      return {};
    },
  },
];
