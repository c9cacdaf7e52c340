import type { ArmedAnswer, ArmedFor } from '../armed-answers.ts';
import { StillWaitingError } from '../errors.ts';
import type { Hold } from '../holds.ts';
import type { PushedStatus } from '../job.ts';
import type { JsonShape } from '../json-shape.ts';
import { changesWithin } from '../patience.ts';
import { ROUTE_NAMES, type RouteName } from '../route-table.ts';
import type { JsonObject } from '../wire-json.ts';
import { BadCallError, type ControlCall, type ControlScope, type Operation } from './operation.ts';

const text: JsonShape = { type: 'string' };
const count: JsonShape = { type: 'integer', minimum: 1, maximum: 10_000 };
const anyObject: JsonShape = { type: 'object', properties: {}, additionalProperties: true };
const errorShape: JsonShape = {
  type: 'object',
  properties: { code: text, message: text },
  required: ['code', 'message'],
  additionalProperties: false,
};
const artifacts: JsonShape = { type: 'array', items: {}, description: 'The outputs of the job.' };
const pushed: JsonShape = { type: 'string', enum: ['completed', 'failed', 'canceled'] };
const route: JsonShape = { type: 'string', enum: ROUTE_NAMES };
const url: JsonShape = {
  type: 'string',
  description: 'Where to send it, if not to the webhook address of the job.',
};

function object(
  properties: Record<string, JsonShape>,
  required: readonly string[] = [],
): JsonShape {
  return { type: 'object', properties, required, additionalProperties: false };
}

const deliveryFilter = {
  jobId: text,
  event: text,
  kind: {
    type: 'string',
    enum: [
      'event',
      'duplicate',
      'contradiction',
      'announcement',
      'replay',
      'forged',
      'tampered',
      'stale',
    ],
  },
} as const satisfies Record<string, JsonShape>;

const moves: Operation[] = [
  move('start', 'Moves a job from queued to processing.', {}, ({ fake }, call) =>
    fake.control.start(jobIdOf(call)),
  ),
  move(
    'complete',
    'Ends a job as completed, and pushes job.completed.',
    { artifacts },
    ({ fake }, call) => fake.control.complete(jobIdOf(call), call.body),
  ),
  move(
    'fail',
    'Ends a job as failed, and pushes job.failed.',
    { error: errorShape },
    ({ fake }, call) => fake.control.fail(jobIdOf(call), call.body),
  ),
  move('cancel', 'Ends a job as canceled, and pushes job.canceled.', {}, ({ fake }, call) =>
    fake.control.cancel(jobIdOf(call)),
  ),
  move('expire', 'Ends a job as expired, which is never pushed.', {}, ({ fake }, call) =>
    fake.control.expire(jobIdOf(call)),
  ),
];

/** Moves a job, and answers what came of it and what the job is now. */
function move(
  verb: string,
  summary: string,
  properties: Record<string, JsonShape>,
  run: (scope: ControlScope, call: ControlCall) => Promise<'changed' | 'unchanged'>,
): Operation {
  return {
    method: 'POST',
    path: `/jobs/{jobId}/${verb}`,
    id: verb,
    summary,
    body: object(properties),
    run: async (scope, call) => ({
      outcome: await run(scope, call),
      job: scope.fake.control.truth().get(jobIdOf(call)),
    }),
  };
}

/** Sends something about a job, and answers the delivery. */
function sending(
  verb: string,
  summary: string,
  body: JsonShape,
  run: (scope: ControlScope, call: ControlCall) => Promise<unknown>,
): Operation {
  return {
    method: 'POST',
    path: `/jobs/{jobId}/${verb}`,
    id: verb,
    summary,
    body,
    run: async (scope, call) => ({ deliveries: [await run(scope, call)].flat() }),
  };
}

const sends: Operation[] = [
  sending(
    'contradict',
    'Pushes a second, different end of a job that has ended. Every read keeps the first.',
    object({ status: pushed, artifacts, error: errorShape }, ['status']),
    ({ fake }, call) => {
      const { status, ...ending } = call.body as { status: PushedStatus };
      return fake.control.contradict(jobIdOf(call), status, ending);
    },
  ),
  sending(
    'announce',
    'Pushes an event of a type that Sume does not document.',
    object({ event: text, payload: anyObject }, ['event']),
    ({ fake }, call) => {
      const { event, payload } = call.body as { event: string; payload?: JsonObject };
      return fake.control.announce(jobIdOf(call), event, payload);
    },
  ),
  sending(
    'deliver',
    'Delivers the latest event of a job, or the named one, once more now.',
    object({ event: text, times: count, url }),
    ({ fake }, call) => fake.control.deliver(jobIdOf(call), call.body),
  ),
  sending(
    'forge',
    'Sends an event signed with a secret that is not Sume’s. The job may be unknown.',
    object({ event: text, url }, ['event']),
    ({ fake }, call) => {
      const { event, ...to } = call.body as { event: string; url?: string };
      return fake.control.forge(jobIdOf(call), event, to);
    },
  ),
  sending(
    'tamper',
    'Sends a body that says something else than what was signed.',
    object({ event: text, url }),
    ({ fake }, call) => fake.control.tamper(jobIdOf(call), call.body),
  ),
  sending(
    'stale',
    'Sends an event with a timestamp out of tolerance, properly signed.',
    object({ event: text, url, offsetMs: { type: 'number' } }),
    ({ fake }, call) => fake.control.stale(jobIdOf(call), call.body),
  ),
];

/** Every operation of the control API but those of the server itself. */
export const OPERATIONS: readonly Operation[] = [
  {
    method: 'GET',
    path: '/jobs',
    id: 'truth',
    summary:
      'What is so about every job: its whole history, and everything that was ever reported.',
    run: async ({ fake }) => ({ jobs: [...fake.control.truth().values()] }),
  },
  {
    method: 'POST',
    path: '/jobs',
    id: 'create',
    summary: 'Makes a job without a request of a client.',
    body: object({ model: text, input: anyObject, webhookUrl: text, idempotencyKey: text }),
    run: async ({ fake }, { body }) => {
      const jobId = await fake.control.create(body);
      return { jobId, job: fake.control.truth().get(jobId) };
    },
  },
  ...moves,
  ...sends,
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
    run: async ({ fake }, { body }) => {
      await fake.control.dropDeliveries(body);
      return {};
    },
  },
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
    run: async (scope, { body }) => place(scope, scope.fake.control.holdDeliveries(body)),
  },
  {
    method: 'POST',
    path: '/holds/answers',
    id: 'holdAnswers',
    summary: 'Keeps back every answer of a route, after Sume did what it was asked.',
    body: object({ route, jobId: text }, ['route']),
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
  {
    method: 'POST',
    path: '/clock/advance',
    id: 'advance',
    summary: 'Moves the clock ahead, and lets whatever is due on the way happen.',
    body: object({ ms: { type: 'number', minimum: 0, maximum: 31_536_000_000 } }, ['ms']),
    run: async ({ fake }, { body }) => {
      await fake.control.advance(Number(body['ms']));
      return {};
    },
  },
  {
    method: 'POST',
    path: '/settle',
    id: 'settle',
    summary:
      'Answers when nothing is pending. 409 still_waiting says what is left when that takes more than ' +
      'timeoutMs of real time (10 s), or cannot happen by itself.',
    body: object({ jobId: text, timeoutMs: { type: 'integer', minimum: 0, maximum: 600_000 } }),
    run: async ({ fake }, { body }) => {
      const { timeoutMs = 10_000, ...scope } = body as { timeoutMs?: number; jobId?: string };
      const settled = fake.control.settle(scope);
      if (!(await changesWithin(timeoutMs, settled))) {
        throw new StillWaitingError(fake.control.pending());
      }
      return {};
    },
  },
  {
    method: 'POST',
    path: '/secrets',
    id: 'rotateSecrets',
    summary: 'From now on signs with these secrets, newest first.',
    body: object({ secrets: { type: 'array', items: text, minItems: 1 } }, ['secrets']),
    run: async ({ fake }, { body }) => {
      await fake.control.rotateSecrets(body['secrets'] as string[]);
      return {};
    },
  },
  {
    method: 'POST',
    path: '/credits',
    id: 'setCredits',
    summary: 'How many jobs can still be submitted before 402; null for no end of them.',
    body: object({ credits: { anyOf: [{ type: 'integer', minimum: 0 }, { type: 'null' }] } }, [
      'credits',
    ]),
    run: async ({ fake }, { body }) => {
      await fake.control.setCredits(body['credits'] as number | null);
      return {};
    },
  },
  {
    method: 'POST',
    path: '/reset',
    id: 'reset',
    summary:
      'Cancels everything pending and forgets everything. Nothing from before arrives later.',
    body: object({}),
    run: async ({ fake, holds }) => {
      holds.clear();
      await fake.control.reset();
      return {};
    },
  },
];

function jobIdOf(call: ControlCall): string {
  return call.path['jobId'] ?? '';
}

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
