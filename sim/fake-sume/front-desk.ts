import type { Clock } from '../../src/clock.ts';
import type { Admission, Purse } from './admission.ts';
import type { AnswerWaits, Visitor } from './answer-waits.ts';
import { failure, Refusal, type Answer } from './answer.ts';
import type { Arrival } from './arrival.ts';
import { writeArmedAnswer, type ArmedAnswer, type ArmedAnswers } from './armed-answers.ts';
import type { FaultPlan } from './faults/plan.ts';
import { REFUSALS } from './assumptions.ts';
import type { Job } from './job.ts';
import type { Ledger } from './ledger.ts';
import type { RequestLog, RequestRecord } from './request-log.ts';
import { createRequestNames } from './request-names.ts';
import { matchRoute, type RouteName } from './route-table.ts';
import { health, me } from './routes/account.ts';
import type { Call } from './routes/call.ts';
import { cancel } from './routes/cancel.ts';
import { limitOf, listJobs } from './routes/list-jobs.ts';
import { readEvents, readJob, readResult, readStatus } from './routes/read-job.ts';
import { submit } from './routes/submit.ts';
import { stableHash } from './stable-hash.ts';
import { refuseUnknown } from './unknown-route.ts';

/** How one request is dealt with. */
interface Meeting {
  /** Null: as usual. */
  instead: ArmedAnswer | null;
  afterEffect: boolean;
  delayMs: number;
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

/** Takes requests and answers them, with everything that stands between a client and the ledger. */
export interface FrontDesk {
  /** The answer to any request on the fake's host; null where none arrives. */
  answer(arrival: Arrival): Promise<Answer | null>;
  /** Forgets what it counted. */
  clear(): void;
  /** From now on answers nothing. */
  close(): void;
}

export function createFrontDesk(options: {
  clock: Clock;
  baseUrl: string;
  admission: Admission;
  purse: Purse;
  ledger: Ledger;
  log: RequestLog;
  armed: ArmedAnswers;
  waits: AnswerWaits;
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
  const { clock, baseUrl, admission, purse, ledger, log, armed, waits, plan } = options;
  const basePath = new URL(baseUrl).pathname.replace(/\/$/, '');
  const names = createRequestNames();
  let closed = false;

  const failureOf = (record: RequestRecord, refusal: Refusal): Answer =>
    failure(refusal, names.next(record));

  const routes: Record<RouteName, (call: Call, visit: Visit) => Answer> = {
    submit: (call, visit) => {
      checkContentType(call.arrival);
      const { answer, job, isNew } = submit(call, () => admission.spendCredit());
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
      visit.apiKey = admission.authenticate(route, call.arrival);
      limitHeaders = admission.count(route, visit.apiKey);
      if (visit.unreadable !== null) throw visit.unreadable;
      const answer = routes[route](call, visit);
      return { ...answer, headers: { ...answer.headers, ...limitHeaders } };
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      const answer = failureOf(record, error);
      return { ...answer, headers: { ...limitHeaders, ...answer.headers } };
    }
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
      await waits.pause(visitor, options.noAnswerMs);
      return send(record, null);
    }
    return send(record, writeArmedAnswer(instead, names.next(record)));
  };

  return {
    async answer(arrival) {
      if (closed) return null;
      const reset = waits.untilReset();
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
        instead: null,
        delayMs: 0,
        lost: false,
      };
      log.add(record);
      if (match.kind !== 'route' || below === null) {
        const nowhere = match.kind === 'route' || below === null ? null : match;
        return send(record, failureOf(record, refuseUnknown(record, nowhere, baseUrl)));
      }

      let unreadable: Refusal | null = null;
      if (method === 'POST') {
        try {
          record.body = await arrival.body();
        } catch (error) {
          if (!(error instanceof Refusal)) throw error;
          unreadable = error;
        }
        // While the body was on its way the fake may have been reset: this request belongs to what was.
        if (reset.aborted) return send(record, null);
      }

      const visitor: Visitor = { arrival, record };
      const { instead, afterEffect, delayMs } = meet(match.name, record);
      record.instead = instead?.kind ?? null;
      record.delayMs = delayMs;
      if (instead !== null && !afterEffect) {
        if (!(await waits.pause(visitor, delayMs))) return send(record, null);
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
      if (reset.aborted) return send(record, null);
      const mayGo =
        (await waits.passHolds(visitor, match.name)) && (await waits.pause(visitor, delayMs));
      if (!mayGo) return send(record, null);
      return instead === null ? send(record, answer) : answerInstead(visitor, instead);
    },

    clear() {
      names.clear();
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

/** What a submit is about before it has a job: the same for the same submit, sent again. */
function subjectOfSubmit(record: RequestRecord): string {
  return record.headers['idempotency-key'] ?? stableHash('body', record.path, record.body);
}
