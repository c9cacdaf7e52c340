import { failure, Refusal, type Answer } from './answer.ts';
import { REFUSALS } from './assumptions.ts';
import { BadControlError } from './errors.ts';
import { ROUTE_NAMES, type RouteName } from './route-table.ts';

/** What the next request of a route gets instead of its answer. */
export type ArmedAnswer =
  /** 429 with `Retry-After` and the `RateLimit-…` headers. Default: 1 second. */
  | { kind: 'rate-limited'; retryAfterSeconds?: number }
  /** A 5xx in Sume's envelope. Default: 500. */
  | { kind: 'server-error'; status?: number }
  /** A web page, as a proxy in between would answer. Default: 502. */
  | { kind: 'html'; status?: number }
  /** No body at all. Default: 200. */
  | { kind: 'empty'; status?: number }
  /** Anything else. */
  | { kind: 'response'; status: number; headers?: Record<string, string>; body?: string }
  /** The request never arrives: the client sees a network error, Sume saw nothing. */
  | { kind: 'request-lost' }
  /** Sume does what it was asked, but the answer never arrives: a network error too. */
  | { kind: 'answer-lost' }
  /** Neither an answer nor an end of the connection, for so long that every client gives up. */
  | { kind: 'no-answer' }
  /** The usual answer, that much later. */
  | { kind: 'slow'; ms: number };

/** Which requests an armed answer is for, and how often. */
export interface ArmedFor {
  /** Only requests about this job. */
  jobId?: string;
  /** How many requests get it. Default: 1. */
  times?: number;
  /** Whether Sume does what it was asked before it answers so. Default: no. */
  afterEffect?: boolean;
}

/** An armed answer that was taken by a request. */
export interface TakenAnswer {
  armed: ArmedAnswer;
  afterEffect: boolean;
}

/** The answers that wait for their requests. */
export interface ArmedAnswers {
  arm(route: RouteName, answer: ArmedAnswer, options: ArmedFor): void;
  /** The armed answer for a request, which is used up by that; undefined if none waits for it. */
  take(route: RouteName, jobId: string | null): TakenAnswer | undefined;
  clear(): void;
}

/** No answer armed. */
export function createArmedAnswers(): ArmedAnswers {
  let waiting: { route: RouteName; taken: TakenAnswer; jobId: string | null; left: number }[] = [];
  return {
    arm(route, armed, { jobId = null, times = 1, afterEffect = false }) {
      if (!ROUTE_NAMES.includes(route)) {
        throw new BadControlError(
          `There is no route ${JSON.stringify(route)}: give one of ${ROUTE_NAMES.join(', ')}.`,
        );
      }
      if (!Number.isInteger(times) || times < 1) {
        throw new BadControlError(`times is ${times}: give a whole number above 0.`);
      }
      const status = 'status' in armed ? armed.status : undefined;
      if (status !== undefined && !(Number.isInteger(status) && status >= 200 && status <= 599)) {
        throw new BadControlError(`status is ${status}: give a whole number from 200 to 599.`);
      }
      const taken = {
        armed: armed.kind === 'response' ? { ...armed, headers: plainHeaders(armed) } : armed,
        afterEffect: afterEffect || armed.kind === 'answer-lost',
      };
      waiting.push({ route, taken, jobId, left: times });
    },
    take(route, jobId) {
      const found = waiting.find(
        (one) => one.route === route && (one.jobId === null || one.jobId === jobId),
      );
      if (found === undefined) return undefined;
      found.left -= 1;
      if (found.left === 0) waiting = waiting.filter((one) => one !== found);
      return found.taken;
    },
    clear() {
      waiting = [];
    },
  };
}

/** The headers with names in lower case, each once. What HTTP cannot carry is refused here, while the caller listens. */
function plainHeaders({
  headers = {},
}: {
  headers?: Record<string, string>;
}): Record<string, string> {
  try {
    return Object.fromEntries(new Headers(headers));
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    throw new BadControlError(
      `The headers ${JSON.stringify(headers)} are none that HTTP can carry: ${error.message}`,
      { cause: error },
    );
  }
}

/** The answer as it goes out; null for one that is lost. */
export function writeArmedAnswer(armed: ArmedAnswer, requestId: string): Answer | null {
  switch (armed.kind) {
    case 'rate-limited': {
      const seconds = String(armed.retryAfterSeconds ?? 1);
      const headers = {
        'retry-after': seconds,
        'ratelimit-limit': '120',
        'ratelimit-remaining': '0',
        'ratelimit-reset': seconds,
      };
      const kind = { status: 429, code: 'rate_limit_exceeded' };
      const message = `Too many requests: try again in ${seconds} s.`;
      return failure(new Refusal(kind, message, { headers }), requestId);
    }
    case 'server-error': {
      const kind = { ...REFUSALS.serverError, status: armed.status ?? REFUSALS.serverError.status };
      return failure(new Refusal(kind, 'Something went wrong on our side.'), requestId);
    }
    case 'html':
      return {
        status: armed.status ?? 502,
        headers: { 'content-type': 'text/html; charset=utf-8' },
        body: '<!doctype html>\n<html><head><title>502 Bad Gateway</title></head><body><h1>502 Bad Gateway</h1></body></html>\n',
      };
    case 'empty':
      return { status: armed.status ?? 200, headers: {}, body: '' };
    case 'response':
      return { status: armed.status, headers: armed.headers ?? {}, body: armed.body ?? '' };
    default:
      return null;
  }
}
