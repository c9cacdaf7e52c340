import type { Change } from '../engine/trace.ts';
import type { FaultName } from './faults.ts';
import type { Run } from './run.ts';
import { happened, precedes } from './occurrence.ts';

/** What happens in the world: which jobs there are, how they end, and what may go wrong. */
export interface Scenario {
  readonly name: string;
  /** One sentence: the race, in plain words. */
  readonly text: string;
  readonly orders: readonly OrderPlan[];
  /** Polls of each job, all begun as soon as its id is known. */
  readonly polls: number;
  /** Sweeps while faults may still happen. One always follows when they have stopped. */
  readonly sweeps: number;
  readonly faults: readonly FaultName[];
  /** How many faults one schedule may hold unless somebody asks for another number. */
  readonly budget: number;
  /** Set for a race between transactions that are open at the same time: PGlite has one connection, and none is. */
  readonly needs?: 'postgres';
  /** Whether the race that the scenario is about happened in this run. */
  readonly race: (run: Run) => boolean;
}

/** One submit, and what Sume makes of it. */
export interface OrderPlan {
  /** Its idempotency key; the job's id is `job_` and the key. */
  readonly key: string;
  readonly end: 'completed' | 'failed' | 'canceled' | 'expired';
  /** How long Sume works on it, in virtual milliseconds; no time at all by default. */
  readonly takesMs?: number;
  /** The webhook never gets through: all ten attempts are lost. */
  readonly webhookLost?: true;
  /** Its user cancels it while it runs. */
  readonly canceledByUser?: true;
  /** A second terminal event follows, naming this end. */
  readonly contradiction?: 'completed' | 'failed' | 'canceled';
  /** Sume also sends an event of this unknown type. */
  readonly announces?: string;
  /** A stranger posts forged, changed and outdated webhooks for it. */
  readonly attacked?: true;
  /** The submit worker dies before it reads the answer, and nobody ever asks again. */
  readonly abandoned?: true;
}

const one: readonly OrderPlan[] = [{ key: 'a', end: 'completed' }];

export const scenarios: readonly Scenario[] = [
  {
    name: 'stale-poll',
    text: 'A poll that read "processing" comes back after the webhook has closed the job.',
    orders: one,
    polls: 1,
    sweeps: 0,
    faults: [],
    budget: 0,
    race: (run) =>
      precedes(
        run,
        terminalWrite,
        (step) => /← GET status/.test(step.label) && /processing|queued/.test(step.text),
      ),
  },
  {
    name: 'early-webhook',
    text: 'The webhook arrives before the submit worker has written the row.',
    orders: one,
    polls: 0,
    sweeps: 0,
    faults: ['crash', 'drop-acknowledgement', 'duplicate-delivery'],
    budget: 0,
    // Answered, and not just delivered: the handler has looked for the row, and there was none. Whether it
    // parked the event is the integration's affair.
    race: (run) => precedes(run, (step) => step.kind === 'acknowledgement', jobInserted),
  },
  {
    name: 'open-transaction',
    text: 'The webhook arrives while the transaction that writes the row is still open.',
    orders: one,
    polls: 0,
    sweeps: 0,
    faults: ['crash', 'error-before-commit', 'error-after-commit'],
    budget: 0,
    needs: 'postgres',
    race: (run) => {
      const own = run.steps.filter(
        ({ actor, kind }) => actor === 'submit' && kind === 'transaction',
      );
      const [first, last] = [own[0]?.index ?? Infinity, own.at(-1)?.index ?? 0];
      return run.steps.some(
        ({ actor, kind, index }) =>
          actor === 'web' &&
          (kind === 'transaction' || kind === 'statement') &&
          index > first &&
          index < last,
      );
    },
  },
  {
    name: 'duplicate-webhook',
    text: 'The same webhook arrives twice at once, or again because the answer was lost.',
    orders: one,
    polls: 0,
    sweeps: 0,
    faults: ['duplicate-delivery', 'drop-acknowledgement'],
    budget: 2,
    race: (run) => happened(run, (step) => step.fault === 'duplicate-delivery'),
  },
  {
    name: 'lost-webhook',
    text: 'No webhook ever gets through: only the sweeper can close the job.',
    orders: [{ key: 'a', end: 'completed', webhookLost: true }],
    polls: 0,
    sweeps: 1,
    faults: [],
    budget: 0,
    race: (run) => happened(run, (step) => step.actor === 'sweeper' && terminalWrite(step)),
  },
  {
    name: 'lost-answer',
    text: 'Sume accepts the submit, and its answer is lost: the job exists, and nobody here knows it.',
    orders: one,
    polls: 1,
    sweeps: 0,
    faults: ['drop-answer', 'drop-request'],
    budget: 1,
    race: (run) =>
      happened(run, (step) => step.fault === 'drop-answer' && /← POST run/.test(step.label)),
  },
  {
    name: 'submit-crash',
    text: 'The submit worker crashes between the answer and the row, and is called again.',
    orders: one,
    polls: 0,
    sweeps: 0,
    faults: ['crash'],
    budget: 2,
    race: (run) => happened(run, (step) => step.kind === 'crash' && step.text.startsWith('submit')),
  },
  {
    name: 'commit-unknown',
    text: 'The connection breaks around a commit: nobody can know whether the write is there.',
    orders: one,
    polls: 0,
    sweeps: 0,
    faults: ['error-before-commit', 'error-after-commit'],
    budget: 2,
    race: (run) => happened(run, (step) => step.fault === 'error-after-commit'),
  },
  {
    name: 'conflicting-terminals',
    text: 'Two different ends arrive for one job.',
    orders: [{ key: 'a', end: 'completed', contradiction: 'failed' }],
    polls: 0,
    sweeps: 0,
    faults: ['duplicate-delivery'],
    budget: 1,
    race: (run) =>
      happened(run, (step) => step.kind === 'delivery' && step.text.includes('job.failed')),
  },
  {
    name: 'cancel-vs-complete',
    text: 'A user cancels a job in the moment that it completes.',
    orders: [{ key: 'a', end: 'completed', canceledByUser: true }],
    polls: 0,
    sweeps: 0,
    faults: ['drop-acknowledgement'],
    budget: 1,
    race: (run) => happened(run, (step) => step.kind === 'event' && /canceled/.test(step.text)),
  },
  {
    name: 'unknown-event',
    text: 'An event arrives whose type nobody here knows.',
    orders: [{ key: 'a', end: 'completed', announces: 'job.archived' }],
    polls: 0,
    sweeps: 0,
    faults: ['duplicate-delivery'],
    budget: 1,
    race: (run) =>
      happened(run, (step) => step.kind === 'delivery' && step.text.includes('job.archived')),
  },
  {
    name: 'forged-webhook',
    text: 'A stranger posts webhooks: forged, changed on the way, or replayed too late.',
    orders: [{ key: 'a', end: 'completed', attacked: true }],
    polls: 0,
    sweeps: 0,
    faults: ['clock-skew'],
    budget: 1,
    race: (run) => happened(run, (step) => step.kind === 'delivery' && step.actor === 'adversary'),
  },
  {
    name: 'orphan',
    text: 'A submit worker dies for good after Sume took the job: its event has no row to go to.',
    orders: [{ key: 'lost', end: 'completed', abandoned: true }],
    polls: 0,
    sweeps: 1,
    faults: ['duplicate-delivery', 'crash'],
    budget: 1,
    race: (run) =>
      happened(run, (step) =>
        step.changes.some(({ key, after }) => key === 'job_lost' && after !== null),
      ),
  },
  {
    name: 'expired',
    text: 'The job expires. No webhook says so; only asking finds it.',
    orders: [{ key: 'a', end: 'expired' }],
    polls: 1,
    sweeps: 0,
    faults: ['drop-answer', 'server-error'],
    budget: 1,
    race: (run) => happened(run, (step) => step.kind === 'event' && /expires/.test(step.label)),
  },
  {
    name: 'sweep-vs-webhook',
    text: 'A sweep asks about a job that looks forgotten, while its webhook is on the way.',
    // As long as a sweep waits before it calls a row forgotten.
    orders: [{ key: 'a', end: 'completed', takesMs: 5_001 }],
    polls: 0,
    sweeps: 1,
    faults: [],
    budget: 0,
    race: (run) =>
      precedes(
        run,
        terminalWrite,
        (step) =>
          step.actor === 'sweeper' && step.kind === 'answer' && /processing|queued/.test(step.text),
      ),
  },
  {
    name: 'replica-lag',
    text: 'Reads go to a copy that lags behind the writes.',
    orders: one,
    polls: 1,
    sweeps: 0,
    faults: ['replica-lag'],
    budget: 2,
    // Code that never reads the copy passes by never having this race.
    race: (run) => happened(run, (step) => step.kind === 'delivery'),
  },
  {
    name: 'retry-storm',
    text: 'Delivery after delivery fails, and Sume tries again, up to ten times.',
    orders: one,
    polls: 0,
    sweeps: 0,
    faults: [
      'drop-delivery',
      'drop-acknowledgement',
      'error-before-commit',
      'error-after-commit',
      'delay',
    ],
    budget: 12,
    race: (run) =>
      happened(run, (step) => step.kind === 'delivery' && /attempt [3-9]/.test(step.text)),
  },
  {
    name: 'rate-limited',
    text: 'Sume answers 429, 404, 500, a page of HTML or nothing to the sweeper, which must write none of it.',
    orders: [{ key: 'a', end: 'completed', webhookLost: true }],
    polls: 0,
    sweeps: 1,
    faults: ['rate-limited', 'not-found', 'server-error', 'html-answer', 'empty-answer', 'delay'],
    budget: 3,
    race: (run) => happened(run, (step) => step.fault === 'rate-limited'),
  },
  {
    name: 'everything',
    text: 'Several jobs, every fault, an unknown event, a cancel, an expiry and an orphan, all at once.',
    orders: [
      { key: 'a', end: 'completed', contradiction: 'failed', announces: 'job.archived' },
      { key: 'b', end: 'completed', canceledByUser: true, attacked: true },
      { key: 'c', end: 'failed', webhookLost: true },
      { key: 'd', end: 'expired' },
      { key: 'lost', end: 'completed', abandoned: true },
    ],
    polls: 1,
    sweeps: 1,
    faults: [
      'drop-request',
      'drop-answer',
      'rate-limited',
      'not-found',
      'server-error',
      'html-answer',
      'empty-answer',
      'drop-delivery',
      'drop-acknowledgement',
      'duplicate-delivery',
      'forged',
      'tampered',
      'out-of-tolerance',
      'contradiction',
      'error-before-commit',
      'error-after-commit',
      'replica-lag',
      'crash',
      'clock-skew',
      'delay',
    ],
    budget: 4,
    race: (run) => run.steps.some((step) => step.fault !== null),
  },
];

function terminalWrite(step: Run['steps'][number]): boolean {
  return step.changes.some(
    (change) => isOfJobs(change) && isTerminalWord(change.after?.['status']),
  );
}

function jobInserted(step: Run['steps'][number]): boolean {
  return step.changes.some(
    (change) => isOfJobs(change) && change.before === null && change.after !== null,
  );
}

/** A row of the core's own table has a rank; of another's the readers say that it is a job's. */
function isOfJobs({ table, after }: Change): boolean {
  return table === 'jobs' || 'rank' in (after ?? {});
}

function isTerminalWord(status: unknown): boolean {
  return ['completed', 'failed', 'canceled', 'expired'].includes(String(status));
}
