import type { Clock } from '../../src/clock.ts';
import { failure, Refusal, toResponse, type Answer } from './answer.ts';
import { writeArmedAnswer, type ArmedAnswers, type TakenAnswer } from './armed-answers.ts';
import { BUCKET, OPEN_ROUTES, REFUSALS } from './assumptions.ts';
import type { Holds } from './holds.ts';
import type { Job } from './job.ts';
import type { Ledger } from './ledger.ts';
import type { LimitCounter } from './limits.ts';
import type { Pending } from './pending.ts';
import { readBody } from './request-body.ts';
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

/** Takes requests and answers them, with everything that stands between a client and the ledger. */
export interface FrontDesk {
  /** An answer for any request below the fake's host. `Response.error()` where none arrives. */
  answer(request: Request): Promise<Response>;
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
  /** Moves a job to canceled and pushes the event of that. */
  end: (job: Job) => 'changed' | 'unchanged';
}): FrontDesk {
  const { clock, baseUrl, apiKeys, purse, limits, ledger, log, armed, holds, pending } = options;
  const basePath = new URL(baseUrl).pathname.replace(/\/$/, '');
  const failuresSeen = new Map<string, number>();
  let open = new AbortController();
  let closed = false;

  const failureOf = (record: RequestRecord, refusal: Refusal): Answer => {
    const times = (failuresSeen.get(record.path) ?? 0) + 1;
    failuresSeen.set(record.path, times);
    return failure(refusal, requestIdOf(record, times));
  };

  const spendCredit = (): void => {
    if (purse.credits === null) return;
    if (purse.credits === 0) {
      throw new Refusal({ status: 402, code: 'insufficient_credits' }, 'No credits are left.');
    }
    purse.credits -= 1;
  };

  const authenticate = (route: RouteName, headers: Headers): string => {
    const bearer = /^Bearer +(\S+)$/i.exec(headers.get('authorization') ?? '')?.[1];
    const key = bearer ?? headers.get('x-api-key') ?? '';
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

  const routes: Record<RouteName, (call: Call, apiKey: string, record: RequestRecord) => Answer> = {
    submit: (call, _apiKey, record) => {
      checkContentType(call.headers);
      const { answer, job } = submit(call, spendCredit);
      record.jobId = job.id;
      return answer;
    },
    list: listJobs,
    job: readJob,
    status: readStatus,
    result: readResult,
    events: (call) => readEvents(call, limitOf(call)),
    cancel: (call) => cancel(call, options.end),
    health,
    me: (_call, apiKey) => me(apiKey, purse.credits),
  };

  /** The answer of a known route, from the key to the effect. */
  const handle = (
    route: RouteName,
    call: Call,
    unreadable: Refusal | null,
    record: RequestRecord,
  ): Answer => {
    let limitHeaders: Record<string, string> = {};
    try {
      const apiKey = authenticate(route, call.headers);
      const bucket = BUCKET[route];
      if (limits !== null && bucket !== null) limitHeaders = limits.take(apiKey, bucket);
      if (unreadable !== null) throw unreadable;
      const answer = routes[route](call, apiKey, record);
      return { ...answer, headers: { ...answer.headers, ...limitHeaders } };
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      const answer = failureOf(record, error);
      return { ...answer, headers: { ...limitHeaders, ...answer.headers } };
    }
  };

  /** Waits while the answer is held. Says whether it may go out. */
  const passHolds = async (record: RequestRecord, route: RouteName): Promise<boolean> => {
    const { signal } = open;
    const work = pending.begin(`The answer to ${record.method} ${record.path}`, record.jobId);
    try {
      const subject = { route, jobId: record.jobId };
      return (await holds.pass(subject, record.jobId, work, signal)) === 'through';
    } catch (error) {
      if (!signal.aborted) throw error;
      return false;
    } finally {
      work.done();
    }
  };

  const send = (record: RequestRecord, answer: Answer | null): Response => {
    if (answer === null) {
      record.lost = true;
      return Response.error();
    }
    record.answer = { status: answer.status, body: answer.body };
    return toResponse(answer);
  };

  const answerArmed = (record: RequestRecord, taken: TakenAnswer): Response => {
    const times = (failuresSeen.get(record.path) ?? 0) + 1;
    failuresSeen.set(record.path, times);
    return send(record, writeArmedAnswer(taken.armed, requestIdOf(record, times)));
  };

  return {
    async answer(request) {
      if (closed) return Response.error();
      const { signal } = open;
      const url = new URL(request.url);
      const below = belowBase(url.pathname, basePath);
      const match = matchRoute(request.method, below ?? url.pathname);
      const known = match.kind === 'route' && below !== null;
      const record: RequestRecord = {
        route: known ? match.name : null,
        method: request.method,
        path: url.pathname + url.search,
        headers: Object.fromEntries(request.headers),
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
      if (request.method === 'POST') {
        try {
          record.body = await readBody(request);
        } catch (error) {
          if (!(error instanceof Refusal)) throw error;
          unreadable = error;
        }
        // While the body was on its way the fake may have been reset: this request belongs to what was.
        if (signal.aborted) return send(record, null);
      }

      const taken = armed.take(match.name, record.jobId);
      if (taken !== undefined && !taken.afterEffect) return answerArmed(record, taken);
      const call: Call = {
        ledger,
        baseUrl,
        parameter: match.parameter,
        query: url.searchParams,
        headers: request.headers,
        body: record.body,
      };
      const answer = handle(match.name, call, unreadable, record);
      if (!(await passHolds(record, match.name))) return send(record, null);
      return taken === undefined ? send(record, answer) : answerArmed(record, taken);
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

function checkContentType(headers: Headers): void {
  const given = headers.get('content-type');
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

/** A request's name in an error: the same for the same requests, whatever else was asked in between. */
function requestIdOf(record: RequestRecord, times: number): string {
  return `req_${stableHash('request', record.method, record.path, String(times))}`;
}
