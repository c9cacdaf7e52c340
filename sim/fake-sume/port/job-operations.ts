import type { PushedStatus } from '../job.ts';
import type { JsonShape } from '../json-shape.ts';
import type { JsonObject } from '../wire-json.ts';
import type { ControlCall, ControlScope, Operation } from './operation.ts';
import { anyObject, artifacts, count, errorShape, object, pushed, text, url } from './shapes.ts';

const moves: Operation[] = [
  move('start', 'Moves a job from queued to processing.', {}, ({ fake }, call) =>
    fake.control.start(jobIdOf(call)),
  ),
  move(
    'complete',
    'Ends a job as completed, and pushes job.completed.',
    { artifacts },
    ({ fake }, call) => fake.control.complete(jobIdOf(call), call.body),
    { artifacts: [{ url: 'https://cdn.example/a.mp4' }] },
  ),
  move(
    'fail',
    'Ends a job as failed, and pushes job.failed.',
    { error: errorShape },
    ({ fake }, call) => fake.control.fail(jobIdOf(call), call.body),
    { error: { code: 'render_failed', message: 'The script holds no words.' } },
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
  example?: JsonObject,
): Operation {
  return {
    method: 'POST',
    path: `/jobs/{jobId}/${verb}`,
    id: verb,
    summary,
    body: object(properties),
    ...(example === undefined ? {} : { example }),
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
  example: JsonObject,
  run: (scope: ControlScope, call: ControlCall) => Promise<unknown>,
): Operation {
  return {
    method: 'POST',
    path: `/jobs/{jobId}/${verb}`,
    id: verb,
    summary,
    body,
    example,
    run: async (scope, call) => ({ deliveries: [await run(scope, call)].flat() }),
  };
}

const sends: Operation[] = [
  sending(
    'contradict',
    'Pushes a second, different end of a job that has ended. Every read keeps the first.',
    object({ status: pushed, artifacts, error: errorShape }, ['status']),
    { status: 'failed', error: { code: 'render_failed', message: 'Said after all.' } },
    ({ fake }, call) => {
      const { status, ...ending } = call.body as { status: PushedStatus };
      return fake.control.contradict(jobIdOf(call), status, ending);
    },
  ),
  sending(
    'announce',
    'Pushes an event of a type that Sume does not document.',
    object({ event: text, payload: anyObject }, ['event']),
    { event: 'job.progress', payload: { percent: 40 } },
    ({ fake }, call) => {
      const { event, payload } = call.body as { event: string; payload?: JsonObject };
      return fake.control.announce(jobIdOf(call), event, payload);
    },
  ),
  sending(
    'deliver',
    'Delivers the latest event of a job, or the named one, once more now.',
    object({ event: text, times: count, url }),
    { times: 2 },
    ({ fake }, call) => fake.control.deliver(jobIdOf(call), call.body),
  ),
  sending(
    'forge',
    'Sends an event signed with a secret that is not Sume’s. The job may be unknown.',
    object({ event: text, url }, ['event']),
    { event: 'job.completed' },
    ({ fake }, call) => {
      const { event, ...to } = call.body as { event: string; url?: string };
      return fake.control.forge(jobIdOf(call), event, to);
    },
  ),
  sending(
    'tamper',
    'Sends a body that says something else than what was signed.',
    object({ event: text, url }),
    { event: 'job.completed' },
    ({ fake }, call) => fake.control.tamper(jobIdOf(call), call.body),
  ),
  sending(
    'stale',
    'Sends an event with a timestamp out of tolerance, properly signed.',
    object({ event: text, url, offsetMs: { type: 'number' } }),
    { offsetMs: -3_600_000 },
    ({ fake }, call) => fake.control.stale(jobIdOf(call), call.body),
  ),
];

/** What can be done to a job, and what can be sent about one. */
export const JOB_OPERATIONS: readonly Operation[] = [
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
    example: { input: { script: 'Hello.' }, webhookUrl: 'http://127.0.0.1:3000/webhook' },
    run: async ({ fake }, { body }) => {
      const jobId = await fake.control.create(body);
      return { jobId, job: fake.control.truth().get(jobId) };
    },
  },
  ...moves,
  ...sends,
];

function jobIdOf(call: ControlCall): string {
  return call.path['jobId'] ?? '';
}
