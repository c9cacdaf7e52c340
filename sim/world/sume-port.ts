import { getResponse, type RequestHandler } from 'msw';
import type { Effect, FaultyCall } from '../engine/call.ts';
import type { Engine } from '../engine/engine.ts';
import type { Task } from '../engine/task.ts';
import { dependOnReady, tellAnswer, type Evidence } from './evidence.ts';
import type { FaultName } from './faults.ts';

/** An answer of Sume on its way: what it says, apart from any Response object. */
interface Answer {
  status: number;
  headers: [string, string][];
  body: string;
}

/** What a proxy or an overloaded Sume answers in the place of Sume. Nothing is done then. */
const INSTEAD: readonly { fault: FaultName; answer: Answer }[] = [
  {
    fault: 'rate-limited',
    answer: json(
      429,
      {
        error: { code: 'rate_limit_exceeded', message: 'Too many requests.' },
        request_id: 'req_limited',
      },
      [['retry-after', '7']],
    ),
  },
  {
    fault: 'not-found',
    answer: json(404, {
      error: { code: 'job_not_found', message: 'No such job.' },
      request_id: 'req_missing',
    }),
  },
  {
    fault: 'server-error',
    answer: json(500, {
      error: { code: 'internal_error', message: 'Something broke.' },
      request_id: 'req_broken',
    }),
  },
  {
    fault: 'html-answer',
    answer: {
      status: 502,
      headers: [['content-type', 'text/html']],
      body: '<!doctype html><title>502</title><h1>Bad gateway</h1>',
    },
  },
  {
    fault: 'empty-answer',
    answer: { status: 200, headers: [['content-type', 'application/json']], body: '' },
  },
];

/**
 * `fetch` as two steps: the request's arrival at Sume, and the arrival of the answer. What lies between them
 * is where a poll goes stale, a webhook comes early and an answer is lost.
 */
export function createSumeFetch(parts: {
  engine: Engine;
  handlers: readonly RequestHandler[];
  evidence: Evidence;
  /** A submit arrived, and Sume has a job for it. */
  onSubmitted: (task: Task, jobId: string) => void;
  /** The answer to a submit came back. */
  onAnswered: (task: Task, jobId: string) => void;
  /** What must happen between an arrival and its answer, if anything. */
  beforeAnswer: (task: Task) => Promise<void>;
}): typeof fetch {
  const { engine, evidence } = parts;
  const handlers = [...parts.handlers];
  return async (input, init) => {
    const task = engine.currentTask();
    const { request, signal } = withoutSignal(input, init);
    const route = describeRequest(request);
    const arrived = async (): Promise<Effect<Answer>> => {
      noteResultRead(request, task, evidence);
      // A list tells of every job.
      if (route.jobId === null && request.method === 'GET') engine.touch('sume:*', 'read');
      if (route.jobId !== null) {
        engine.touch(`sume:${route.jobId}`, request.method === 'GET' ? 'read' : 'write');
        if (request.method !== 'GET') engine.touch(`events:${route.jobId}`, 'write');
      }
      const response = await getResponse(handlers, request);
      if (response === undefined) {
        return { text: `${route.text}: no such server`, error: new TypeError('Failed to fetch') };
      }
      const answer: Answer = {
        status: response.status,
        headers: [...response.headers],
        body: await response.text(),
      };
      const jobId = route.submits ? submittedJob(answer) : null;
      if (jobId !== null) parts.onSubmitted(task, jobId);
      return { text: route.text, value: answer };
    };
    const faults: FaultyCall<Answer>[] = INSTEAD.map(({ fault, answer }) => ({
      fault,
      perform: () => ({ text: `${route.text}: answered ${answer.status} instead`, value: answer }),
    }));
    faults.push({
      fault: 'drop-request',
      perform: () => ({
        text: `${route.text}: lost on the way`,
        error: new TypeError('Failed to fetch'),
      }),
    });
    const answer = await engine.step({
      name: `→ ${route.name}`,
      kind: 'request',
      to: 'Sume',
      perform: arrived,
      faults,
      signal,
    });
    const sentBy = task.lastLabel;
    const jobId = route.submits ? submittedJob(answer) : null;
    if (jobId !== null) await parts.beforeAnswer(task);
    const text = describeAnswer(answer);
    return engine.step({
      name: `← ${route.name}`,
      kind: 'answer',
      sentBy: sentBy,
      signal,
      perform: () => {
        tellAnswer(evidence, task, parse(answer.body));
        if (jobId !== null) parts.onAnswered(task, jobId);
        return { text, value: new Response(answer.body === '' ? null : answer.body, answer) };
      },
      faults: [
        {
          fault: 'drop-answer',
          perform: () => ({
            text: `${text}: lost on the way`,
            error: new TypeError('Failed to fetch'),
          }),
        },
      ],
    });
  };
}

/**
 * The request, and apart from it the signal that takes it back. Node keeps the signal of a Request until a finalizer
 * has run, and by the listeners of a task that crashed it would keep the whole world of a schedule that is over.
 */
function withoutSignal(
  input: RequestInfo | URL,
  init?: RequestInit,
): { request: Request; signal: AbortSignal | null } {
  if (init instanceof Request) return withoutSignal(new Request(input, init));
  const ofInput = input instanceof Request ? input.signal : null;
  return {
    request: new Request(input, { ...init, signal: null }),
    signal: init?.signal === undefined ? ofInput : init.signal,
  };
}

/** A read of a result is early if nobody has told this integration yet that there is one. */
function noteResultRead(request: Request, task: Task, evidence: Evidence): void {
  const jobId = /\/jobs\/([^/]+)\/result$/.exec(new URL(request.url).pathname)?.[1];
  if (jobId === undefined) return;
  const id = decodeURIComponent(jobId);
  dependOnReady(evidence, task, id);
  if (!evidence.ready.has(id)) evidence.earlyReads.push(id);
}

/** `GET /v1/jobs/job_a/status` becomes `GET status` in a label and `GET job_a/status` in the text. */
function describeRequest(request: Request): {
  name: string;
  text: string;
  submits: boolean;
  jobId: string | null;
} {
  const path = decodeURIComponent(new URL(request.url).pathname);
  const job = /\/jobs\/(.+?)(?:\/(status|result|events|cancel))?$/.exec(path);
  if (job !== null) {
    const part = job[2] ?? 'job';
    return {
      name: `${request.method} ${part}`,
      text: `${request.method} ${job[1]}/${part}`,
      submits: false,
      jobId: job[1] ?? null,
    };
  }
  const last = path.endsWith('/runs') ? 'run' : (path.split('/').pop() ?? path);
  const text = `${request.method} ${last}`;
  return { name: text, text, submits: text === 'POST run', jobId: null };
}

/** The id of the job that an answer to a submit names. */
function submittedJob(answer: Answer): string | null {
  if (answer.status !== 202) return null;
  const parsed = parse(answer.body) as { data?: { request_id?: unknown } } | null;
  const jobId = parsed?.data?.request_id;
  return typeof jobId === 'string' ? jobId : null;
}

function describeAnswer({ status, body }: Answer): string {
  if (body === '') return `${status}, empty`;
  const parsed = parse(body) as {
    data?: Record<string, unknown>;
    error?: { code?: unknown };
  } | null;
  if (parsed === null || typeof parsed !== 'object') return `${status}, no JSON`;
  if (parsed.error !== undefined) return `${status} ${String(parsed.error.code)}`;
  const data = parsed.data ?? {};
  const job = data['job'] as { id?: unknown; status?: unknown } | undefined;
  const word = [data['sume_status'], job?.status, data['status']].find(
    (one) => typeof one === 'string',
  );
  // Only the answer to a submit tells an id that was not asked for.
  const created = typeof job?.id === 'string' && data['sume_status'] === undefined ? job.id : '';
  return [status, created, word].filter((one) => one !== '' && one !== undefined).join(' ');
}

function parse(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    // Not JSON: it tells nothing about any job.
    return null;
  }
}

function json(status: number, body: object, headers: [string, string][] = []): Answer {
  return {
    status,
    headers: [['content-type', 'application/json'], ...headers],
    body: JSON.stringify(body),
  };
}
