import type { Random } from '../../engine/random.ts';
import type { ArmedAnswer } from '../armed-answers.ts';
import type { Delivery } from '../delivery.ts';
import type { TerminalStatus } from '../job.ts';
import type { RouteName } from '../route-table.ts';
import type { AnswerFaults, FaultProfile, Range } from './profile.ts';

/** What one request meets. */
export interface AnswerFate {
  delayMs: number;
  /** Null: the usual answer. */
  instead: ArmedAnswer | null;
}

/** What one attempt meets. */
export interface AttemptFate {
  delayMs: number;
  loss: 'delivery-lost' | 'acknowledgement-lost' | null;
}

/** How one job lives. */
export interface JobFate {
  startMs: number;
  runMs: number;
  end: TerminalStatus;
  /** Whether its webhook arrives before its 202. */
  early: boolean;
}

/** Something that is sent beside the event of a job that ended. */
export interface Mischief {
  kind: 'duplicate' | 'contradict' | 'unknown' | 'forge' | 'tamper' | 'stale';
  /** From the end of the job. */
  delayMs: number;
}

/**
 * Every fault that a seed and a profile decide. Each draw has a key made of what it is about (route and
 * job and how often, or delivery and attempt), so that neither the order in which things happen nor another
 * draw can shift it: the same seed and the same requests meet the same faults.
 */
export interface FaultPlan {
  /** @param subject the job, or for a submit its idempotency key or body. Counts how often it was asked. */
  answer(route: RouteName, subject: string): AnswerFate;
  attempt(delivery: Delivery, number: number): AttemptFate;
  job(jobId: string): JobFate;
  mischief(jobId: string): readonly Mischief[];
  /** Counts from the beginning again. */
  clear(): void;
}

const START_MS: Range = [250, 250];
const RUN_MS: Range = [1_000, 1_000];

/** How long a first attempt is kept back for others to overtake it. */
const REORDER_MS: Range = [2_000, 15_000];

/** How long after the end of a job mischief comes. */
const MISCHIEF_MS: Range = [0, 20_000];

/** Which armed answer each fault is, in the order in which they share a draw. */
const INSTEAD: readonly [keyof AnswerFaults, ArmedAnswer][] = [
  ['rateLimited', { kind: 'rate-limited', retryAfterSeconds: 1 }],
  ['serverError', { kind: 'server-error' }],
  ['html', { kind: 'html' }],
  ['empty', { kind: 'empty' }],
  ['requestLost', { kind: 'request-lost' }],
  ['answerLost', { kind: 'answer-lost' }],
  ['noAnswer', { kind: 'no-answer' }],
];

/** @param random decides everything; the plan draws from forks of it alone. */
export function createFaultPlan(profile: FaultProfile, random: Random): FaultPlan {
  const timesAsked = new Map<string, number>();

  const within = ([least, most]: Range, drawn: Random): number =>
    least + drawn.int(Math.floor(most - least) + 1);

  /** Null for a route that always answers as usual: most do, and then nothing is counted or drawn. */
  const answerFaults = (route: RouteName): AnswerFaults | null => {
    const everywhere = profile.answers?.['*'];
    const here = profile.answers?.[route];
    return everywhere === undefined && here === undefined ? null : { ...everywhere, ...here };
  };

  return {
    answer(route, subject) {
      const faults = answerFaults(route);
      if (faults === null) return { delayMs: 0, instead: null };
      const name = `answer/${route}/${subject}`;
      const times = (timesAsked.get(name) ?? 0) + 1;
      timesAsked.set(name, times);
      const drawn = random.fork(`${name}/${times}`);
      let left = drawn.fork('instead').float();
      const instead = INSTEAD.find(([fault]) => {
        const probability = faults[fault];
        left -= typeof probability === 'number' ? probability : 0;
        return left < 0;
      });
      return {
        delayMs: within(faults.delayMs ?? [0, 0], drawn.fork('delay')),
        instead: instead?.[1] ?? null,
      };
    },

    attempt(delivery, number) {
      const {
        delayMs = [0, 0],
        reorder = 0,
        requestLost = 0,
        acknowledgementLost = 0,
      } = profile.deliveries ?? {};
      const drawn = random.fork(`attempt/${delivery.jobId}/${delivery.eventId}/${number}`);
      const keptBack = number === 1 && drawn.fork('reorder').chance(reorder);
      const lost = drawn.fork('loss').float();
      return {
        delayMs:
          within(delayMs, drawn.fork('delay')) +
          (keptBack ? within(REORDER_MS, drawn.fork('keep')) : 0),
        loss:
          lost < requestLost
            ? 'delivery-lost'
            : lost < requestLost + acknowledgementLost
              ? 'acknowledgement-lost'
              : null,
      };
    },

    job(jobId) {
      const { startMs = START_MS, runMs = RUN_MS, ...odds } = profile.jobs ?? {};
      const drawn = random.fork(`job/${jobId}`);
      let left = drawn.fork('end').float();
      const ends: [TerminalStatus, number][] = [
        ['failed', odds.fail ?? 0],
        ['canceled', odds.cancel ?? 0],
        ['expired', odds.expire ?? 0],
      ];
      const end = ends.find(([, probability]) => (left -= probability) < 0);
      return {
        startMs: within(startMs, drawn.fork('start')),
        runMs: within(runMs, drawn.fork('run')),
        end: end?.[0] ?? 'completed',
        early: drawn.fork('early').chance(odds.early ?? 0),
      };
    },

    mischief(jobId) {
      const odds = profile.events ?? {};
      const drawn = random.fork(`mischief/${jobId}`);
      const kinds = ['duplicate', 'contradict', 'unknown', 'forge', 'tamper', 'stale'] as const;
      return kinds
        .filter((kind) => drawn.fork(kind).chance(odds[kind] ?? 0))
        .map((kind) => ({ kind, delayMs: within(MISCHIEF_MS, drawn.fork(`${kind}/delay`)) }));
    },

    clear() {
      timesAsked.clear();
    },
  };
}
