import type { Clock } from '../../src/clock.ts';
import { failure, Refusal, type Answer } from './answer.ts';
import type { Arrival } from './arrival.ts';
import { writeArmedAnswer, type ArmedAnswer, type ArmedAnswers } from './armed-answers.ts';
import type { FaultPlan } from './faults/plan.ts';
import { BUCKET, OPEN_ROUTES, REFUSALS } from './assumptions.ts';
import type { Holds } from './holds.ts';
import type { Job } from './job.ts';
import type { Ledger } from './ledger.ts';
import type { LimitCounter } from './limits.ts';
import type { Pending, PendingWork } from './pending.ts';
import type { RequestLog, RequestRecord } from './request-log.ts';
import { matchRoute, type RouteName } from './route-table.ts';
import { health, me } from './routes/account.ts';
import type { Call } from './routes/call.ts';
import { cancel } from './routes/cancel.ts';
import { limitOf, listJobs } from './routes/list-jobs.ts';
import { readEvents, readJob, readResult, readStatus } from './routes/read-job.ts';
import { submit } from './routes/submit.ts';
import { stableHash } from './stable-hash.ts';

/** What a hold on answers can be about. */
export interface AnswerSubject {
  route: RouteName;
  jobId: string | null;
}

/** Jobs that can still be submitted; null for no end of them. */
export interface Purse {
  credits: number | null;
}

/** How one request is dealt with. */
interface Meeting {
  /** Null: as usual. */
  instead: ArmedAnswer | null;
  afterEffect: boolean;
  delayMs: number;
}

/** A request, and what is written down of it. */
interface Visitor {
  arrival: Arrival;
  record: RequestRecord;
}

/** One request on its way through the desk. */
interface Visit {
  route: RouteName;
  call: Call;
  record: RequestRecord;
  apiKey: string;
  /** Why its body cannot be used, if it cannot. */
  unreadable: Refusal | null;
  /** The job that it made, if it made one. */
  newJob: Job | null;
}

/** Why a wait for an answer ended early. */
const LEFT = new Error('Nobody waits for this answer any more.');

/** Of how many paths it is counted how often they were refused. */
const MOST_PATHS_COUNTED = 10_000;

/** Takes requests and answers them, with everything that stands between a client and the ledger. */
export interface FrontDesk {
  /** The answer to any request on the fake's host; null where none arrives. */
  answer(arrival: Arrival): Promise<Answer | null>;
  /** Lets go of every answer that is held: their clients see a network error. */
  cancelAll(): void;
  /** Forgets what it counted. */
  clear(): void;
  /** From now on answers nothing. */
  close(): void;
}

export function createFrontDesk(options: {
  clock: Clock;
  baseUrl: string;
  apiKeys: readonly string[] | undefined;
  purse: Purse;
  limits: LimitCounter | null;
  ledger: Ledger;
  log: RequestLog;
  armed: ArmedAnswers;
  holds: Holds<AnswerSubject>;
  pending: Pending;
  plan: FaultPlan | null;
  /** For how long a request that gets no answer keeps its connection. */
  noAnswerMs: number;
  /** Told of every request that was dealt with. */
  watch: (record: RequestRecord) => void;
  /** What a new job does before its 202 goes out. */
  onSubmitted: (job: Job) => Promise<void>;
  /** Moves a job to canceled and pushes the event of that. */
  end: (job: Job) => 'changed' | 'unchanged';
}): FrontDesk {
  const { clock, baseUrl, apiKeys, purse, limits, ledger, log, armed, holds, pending, plan } =
    options;
  const basePath = new URL(baseUrl).pathname.replace(/\/$/, '');
  const failuresSeen = new Map<string, number>();
  let open = new AbortController();
  let closed = false;

  /** A request's name in an error: the same for the same requests, whatever else was asked in between. */
  const nextRequestId = ({ method, path }: RequestRecord): string => {
    const times = (failuresSeen.get(path) ?? 0) + 1;
    // Names may come again after so many; a server that runs for weeks must not remember them all.
    if (failuresSeen.size >= MOST_PATHS_COUNTED) failuresSeen.clear();
    failuresSeen.set(path, times);
    return `req_${stableHash('request', method, path, String(times))}`;
  };

  const failureOf = (record: RequestRecord, refusal: Refusal): Answer =>
    failure(refusal, nextRequestId(record));

  const spendCredit = (): void => {
    if (purse.credits === null) return;
    if (purse.credits === 0) {
      throw new Refusal({ status: 402, code: 'insufficient_credits' }, 'No credits are left.');
    }
    purse.credits -= 1;
  };

  const authenticate = (route: RouteName, arrival: Arrival): string => {
    const bearer = /^Bearer +(\S+)$/i.exec(arrival.header('authorization') ?? '')?.[1];
    const key = bearer ?? arrival.header('x-api-key') ?? '';
    const good = key !== '' && (apiKeys === undefined || apiKeys.includes(key));
    if (!good && !OPEN_ROUTES.has(route)) {
      throw new Refusal(
        REFUSALS.unauthorized,
        key === ''
          ? 'No API key: send it as "Authorization: Bearer KEY" or as "x-api-key: KEY".'
          : 'This API key is not known.',
      );
    }
    return key;
  };

  const routes: Record<RouteName, (call: Call, visit: Visit) => Answer> = {
    submit: (call, visit) => {
      checkContentType(call.arrival);
      const { answer, job, isNew } = submit(call, spendCredit);
      visit.record.jobId = job.id;
      if (isNew) visit.newJob = job;
      return answer;
    },
    list: listJobs,
    job: readJob,
    status: readStatus,
    result: readResult,
    events: (call) => readEvents(call, limitOf(call)),
    cancel: (call) => cancel(call, options.end),
    health,
    me: (_call, { apiKey }) => me(apiKey, purse.credits),
  };

  /** The answer of a known route, from the key to the effect. */
  const handle = (visit: Visit): Answer => {
    const { route, call, record } = visit;
    let limitHeaders: Record<string, string> = {};
    try {
      visit.apiKey = authenticate(route, call.arrival);
      const bucket = BUCKET[route];
      if (limits !== null && bucket !== null) limitHeaders = limits.take(visit.apiKey, bucket);
      if (visit.unreadable !== null) throw visit.unreadable;
      const answer = routes[route](call, visit);
      return { ...answer, headers: { ...answer.headers, ...limitHeaders } };
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      const answer = failureOf(record, error);
      return { ...answer, headers: { ...limitHeaders, ...answer.headers } };
    }
  };

  /**
   * Waits for something that a reset or a disposal ends, or the client by going away. Says whether it came to
   * its end.
   */
  const wait = async (
    visitor: Visitor,
    until: (work: PendingWork, signal: AbortSignal) => Promise<boolean>,
  ): Promise<boolean> => {
    const { record, arrival } = visitor;
    const ended = new AbortController();
    const end = (): void => ended.abort(LEFT);
    const { signal } = open;
    signal.addEventListener('abort', end, { once: true });
    const stopListening = arrival.onGone(end);
    const work = pending.begin(`The answer to ${record.method} ${record.path}`, record.jobId);
    try {
      return await until(work, ended.signal);
    } catch (error) {
      if (!ended.signal.aborted) throw error;
      return false;
    } finally {
      signal.removeEventListener('abort', end);
      stopListening();
      work.done();
    }
  };

  /** Waits while the answer is held. Says whether it may go out. */
  const passHolds = async (visitor: Visitor, route: RouteName): Promise<boolean> => {
    const { jobId } = visitor.record;
    const subject = { route, jobId };
    if (!holds.keepBack(subject)) return true;
    return wait(
      visitor,
      async (work, signal) => (await holds.pass(subject, jobId, work, signal)) === 'through',
    );
  };

  /** Lets time pass. Says whether the answer may still go out. */
  const pause = async (visitor: Visitor, ms: number): Promise<boolean> => {
    if (ms === 0) return true;
    return wait(visitor, async (work, signal) => {
      work.now({ for: 'clock', untilMs: clock.now() + ms });
      await clock.sleep(ms, signal);
      return true;
    });
  };

  const meet = (route: RouteName, record: RequestRecord): Meeting => {
    const taken = armed.take(route, record.jobId);
    if (taken?.armed.kind === 'slow') {
      return { instead: null, afterEffect: true, delayMs: taken.armed.ms };
    }
    if (taken !== undefined) {
      return { instead: taken.armed, afterEffect: taken.afterEffect, delayMs: 0 };
    }
    if (plan === null) return { instead: null, afterEffect: true, delayMs: 0 };
    const fate = plan.answer(route, record.jobId ?? subjectOfSubmit(record));
    return { ...fate, afterEffect: fate.instead?.kind === 'answer-lost' };
  };

  const send = (record: RequestRecord, answer: Answer | null): Answer | null => {
    if (answer === null) record.lost = true;
    else record.answer = { status: answer.status, body: answer.body };
    options.watch(record);
    return answer;
  };

  const answerInstead = async (visitor: Visitor, instead: ArmedAnswer): Promise<Answer | null> => {
    const { record } = visitor;
    if (instead.kind === 'no-answer') {
      await pause(visitor, options.noAnswerMs);
      return send(record, null);
    }
    return send(record, writeArmedAnswer(instead, nextRequestId(record)));
  };

  return {
    async answer(arrival) {
      if (closed) return null;
      const { signal } = open;
      const { method, pathname, search } = arrival;
      const below = belowBase(pathname, basePath);
      const match = matchRoute(method, below ?? pathname);
      const known = match.kind === 'route' && below !== null;
      const record: RequestRecord = {
        route: known ? match.name : null,
        method,
        path: pathname + search,
        headers: arrival.headers(),
        body: '',
        atMs: clock.now(),
        jobId: known && match.name !== 'submit' && match.parameter !== '' ? match.parameter : null,
        answer: null,
        lost: false,
      };
      log.add(record);
      if (!known)
        return send(record, failureOf(record, refuseUnknown(record, match, below, baseUrl)));

      let unreadable: Refusal | null = null;
      if (method === 'POST') {
        try {
          record.body = await arrival.body();
        } catch (error) {
          if (!(error instanceof Refusal)) throw error;
          unreadable = error;
        }
        // While the body was on its way the fake may have been reset: this request belongs to what was.
        if (signal.aborted) return send(record, null);
      }

      const visitor: Visitor = { arrival, record };
      const { instead, afterEffect, delayMs } = meet(match.name, record);
      if (instead !== null && !afterEffect) {
        if (!(await pause(visitor, delayMs))) return send(record, null);
        return answerInstead(visitor, instead);
      }
      const call: Call = {
        ledger,
        baseUrl,
        parameter: match.parameter,
        query: new URLSearchParams(search),
        arrival,
        body: record.body,
      };
      const visit: Visit = {
        route: match.name,
        call,
        record,
        apiKey: '',
        unreadable,
        newJob: null,
      };
      const answer = handle(visit);
      const { newJob } = visit;
      if (newJob !== null) await options.onSubmitted(newJob);
      const mayGo = (await passHolds(visitor, match.name)) && (await pause(visitor, delayMs));
      if (!mayGo) return send(record, null);
      return instead === null ? send(record, answer) : answerInstead(visitor, instead);
    },

    cancelAll() {
      open.abort(new DOMException('The fake Sume was reset or disposed.', 'AbortError'));
      open = new AbortController();
    },

    clear() {
      failuresSeen.clear();
    },

    close() {
      closed = true;
    },
  };
}

/** What follows the base path; null for a path that is not below it. */
function belowBase(pathname: string, basePath: string): string | null {
  if (!pathname.startsWith(`${basePath}/`)) return null;
  return pathname.slice(basePath.length);
}

function checkContentType(arrival: Arrival): void {
  const given = arrival.header('content-type');
  if (given === null || /^application\/([^;]+\+)?json *(;|$)/i.test(given)) return;
  throw new Refusal(
    REFUSALS.notJsonType,
    `The content type is ${JSON.stringify(given)}: send application/json.`,
  );
}

function refuseUnknown(
  record: RequestRecord,
  match: ReturnType<typeof matchRoute>,
  below: string | null,
  baseUrl: string,
): Refusal {
  if (below === null) {
    return new Refusal(
      REFUSALS.unknownRoute,
      `${record.path} is not below the base URL of this fake Sume: ask below ${baseUrl}/.`,
    );
  }
  if (match.kind === 'wrong-method') {
    return new Refusal(
      REFUSALS.wrongMethod,
      `${record.method} ${record.path}: this route takes ${match.allow}.`,
      { headers: { allow: match.allow } },
    );
  }
  if (match.kind === 'malformed') {
    return new Refusal(
      REFUSALS.badRequest,
      `${record.path} holds a percent-escape that is no UTF-8.`,
    );
  }
  const nearest = match.kind === 'unknown' ? match.nearest : '';
  return new Refusal(
    REFUSALS.unknownRoute,
    `${record.method} ${record.path} is no route of Sume that this fake knows. The nearest is ` +
      `${nearest}, below ${baseUrl}.`,
    { details: { nearest } },
  );
}

/** What a submit is about before it has a job: the same for the same submit, sent again. */
function subjectOfSubmit(record: RequestRecord): string {
  return record.headers['idempotency-key'] ?? stableHash('body', record.path, record.body);
}
