import { StillWaitingError } from '../errors.ts';
import { changesWithin } from '../patience.ts';
import type { Operation } from './operation.ts';
import { object, text } from './shapes.ts';

/** What concerns the fake as a whole: its time, its secrets, its end. */
export const FAKE_OPERATIONS: readonly Operation[] = [
  {
    method: 'POST',
    path: '/clock/advance',
    id: 'advance',
    summary: 'Moves the clock ahead, and lets whatever is due on the way happen.',
    body: object({ ms: { type: 'number', minimum: 0, maximum: 31_536_000_000 } }, ['ms']),
    example: { ms: 30_000 },
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
    example: { timeoutMs: 5_000 },
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
    example: { secrets: ['whsec_new', 'whsec_old'] },
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
    example: { credits: 0 },
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
