import { systemClock, type Clock } from './clock.ts';
import { InputError, SumeAnswerError, SumeUnreachableError } from './errors.ts';
import { assertJobId, jobIdFault } from './job-id.ts';
import { readCapped } from './read-capped.ts';
import { readStatusWord, statusWordOf, type JobStatus } from './status.ts';
import { assertSameJob, isRecord, readAnswer, type Answer } from './sume-answer.ts';
import { withTimeLimit } from './time-limit.ts';

/** What the core asks of Sume. */
export interface SumeClient {
  /** Submits a run. The same key again gives the original job back, never a second one. */
  submit(request: SubmitRequest, options?: CallOptions): Promise<SubmitAnswer>;
  /** The whole job, with its input. */
  job(jobId: string, options?: CallOptions): Promise<JobAnswer>;
  /** Where the job stands. */
  status(jobId: string, options?: CallOptions): Promise<StatusAnswer>;
  /** The artifacts. Ask only once the job was seen terminal, or its result ready. */
  result(jobId: string, options?: CallOptions): Promise<ResultAnswer>;
  /** Asks Sume to cancel. A job that has ended keeps its status. */
  cancel(jobId: string, options?: CallOptions): Promise<CancelAnswer>;
}

export interface CallOptions {
  /** Ends the call early; it rejects with the signal's reason. */
  signal?: AbortSignal | undefined;
}

export interface SubmitRequest {
  /** A model's id, slashes included: `sume/avatar-video/v1.0`. */
  model: string;
  /** What the model takes. */
  input: Readonly<Record<string, unknown>>;
  /** Makes a retried submit safe. Keep it with whatever asked for the job, before the first try. */
  idempotencyKey: string;
  /** Where to push the end of the job; without it, it is learnt by polling alone. */
  webhookUrl?: string | undefined;
}

export interface SubmitAnswer {
  /** Sume's `request_id`: the id that every other route and the webhook call `job_id`. */
  jobId: string;
  /** Null for a word that is not known. */
  status: JobStatus | null;
  /** True when the key was used before: this is the job of the first time. */
  idempotencyHit: boolean;
}

export interface JobAnswer {
  jobId: string;
  status: JobStatus | null;
  /** All that Sume told, as it told it. */
  job: Readonly<Record<string, unknown>>;
}

export interface StatusAnswer {
  jobId: string;
  /** Null for a word that is not known: it must change nothing. */
  status: JobStatus | null;
  /** The word itself, as Sume wrote it. */
  word: string | null;
  /** What Sume says of itself; false when it says nothing. */
  resultReady: boolean;
}

export interface ResultAnswer {
  status: JobStatus | null;
  /** `{ artifacts: [ … ] }`, or null when the answer held none. */
  result: unknown;
  /** The raw text of the answer. */
  body: string;
}

export interface CancelAnswer {
  status: JobStatus | null;
  /** False when the job had ended before. */
  canceled: boolean;
}

export interface SumeClientOptions {
  /** Sent as a bearer token. */
  apiKey: string;
  /** `https://api.sume.com/v1` by default. */
  baseUrl?: string | undefined;
  /** The global `fetch` by default. */
  fetch?: typeof globalThis.fetch | undefined;
  clock?: Clock | undefined;
  /** The most one call may take, answer included; 30,000 by default. */
  timeoutMs?: number | undefined;
  /** The longest answer that is read; 8 MiB by default. */
  maxAnswerBytes?: number | undefined;
}

const DEFAULT_BASE_URL = 'https://api.sume.com/v1';
const DEFAULT_TIMEOUT_MS = 30_000;
const DEFAULT_MAX_ANSWER_BYTES = 8 * 1024 * 1024;

/**
 * A client for the routes that the core needs. It never retries: whoever calls it, the sweeper among them, knows
 * better when to ask again.
 *
 * Every call rejects with a `SumeApiError` (Sume answered with an error: status, code, request id, and how long
 * to wait), a `SumeUnreachableError` (no answer in time), a `SumeAnswerError` (HTML, nothing, broken JSON,
 * another job) or an `InputError` (an id that no path can hold).
 */
export function createSumeClient(options: SumeClientOptions): SumeClient {
  if (options.apiKey === '') {
    throw new InputError(
      'The API key is empty. Pass the key that Sume issued, such as sume_live_….',
    );
  }
  const clock = options.clock ?? systemClock;
  const baseUrl = (options.baseUrl ?? DEFAULT_BASE_URL).replace(/\/+$/, '');
  const timeoutMs = options.timeoutMs ?? DEFAULT_TIMEOUT_MS;
  const maxAnswerBytes = options.maxAnswerBytes ?? DEFAULT_MAX_ANSWER_BYTES;

  const call = async (
    method: 'GET' | 'POST',
    path: string,
    extra: CallOptions & { headers?: Record<string, string>; body?: string } = {},
  ): Promise<Answer> => {
    const request = `${method} ${path}`;
    // Looked up at each call, so that a global fetch that was replaced since (MSW does) is the one in use.
    const send = options.fetch ?? globalThis.fetch;
    const { signal: outer } = extra;
    let answer: { response: Response; bytes: Uint8Array | null };
    try {
      answer = await withTimeLimit(
        { clock, ms: timeoutMs, signal: outer, expired: () => timedOut(request, timeoutMs) },
        async (signal) => {
          const response = await send(`${baseUrl}${path}`, {
            method,
            headers: {
              accept: 'application/json',
              authorization: `Bearer ${options.apiKey}`,
              ...extra.headers,
            },
            signal,
            ...(extra.body === undefined ? {} : { body: extra.body }),
          });
          return { response, bytes: await readCapped(response.body, maxAnswerBytes) };
        },
      );
    } catch (error) {
      if (outer?.aborted === true || error instanceof SumeUnreachableError) throw error;
      throw new SumeUnreachableError(
        `${request} got no answer: ${String(error)}. It tells nothing about the job; ask again later.`,
        { timedOut: false, cause: error },
      );
    }
    return readAnswer(request, answer, clock);
  };

  return {
    submit: async (request, callOptions) => {
      const { model, input, idempotencyKey, webhookUrl } = request;
      if (idempotencyKey === '') {
        throw new InputError(
          'The idempotency key is empty. Without one a retried submit makes a second job.',
        );
      }
      const {
        data,
        request: sent,
        status,
      } = await call('POST', `/models/${model.split('/').map(pathSegment).join('/')}/runs`, {
        ...callOptions,
        headers: { 'content-type': 'application/json', 'idempotency-key': idempotencyKey },
        body: JSON.stringify(
          webhookUrl === undefined
            ? { ...input, mode: 'async' }
            : { ...input, mode: 'webhook', webhook_url: webhookUrl },
        ),
      });
      const jobId = data['request_id'];
      const fault = jobIdFault(jobId);
      if (typeof jobId !== 'string' || fault !== null) {
        throw new SumeAnswerError(sent, status, `its request_id ${String(fault)}`);
      }
      return {
        jobId,
        status: readStatusWord(statusWordOf(data)),
        idempotencyHit: data['idempotency_hit'] === true,
      };
    },
    job: async (jobId, callOptions) => {
      const answer = await call('GET', jobPath(jobId), callOptions);
      const inner = answer.data['job'];
      const job = isRecord(inner) ? inner : answer.data;
      assertSameJob(answer, jobId, ['job_id', 'id']);
      return { jobId, status: readStatusWord(statusWordOf(answer.data)), job };
    },
    status: async (jobId, callOptions) => {
      const answer = await call('GET', `${jobPath(jobId)}/status`, callOptions);
      assertSameJob(answer, jobId, ['job_id', 'request_id']);
      const word = statusWordOf(answer.data);
      return {
        jobId,
        status: readStatusWord(word),
        word,
        resultReady: answer.data['result_ready'] === true,
      };
    },
    result: async (jobId, callOptions) => {
      const answer = await call('GET', `${jobPath(jobId)}/result`, callOptions);
      assertSameJob(answer, jobId, ['job_id', 'request_id']);
      return {
        status: readStatusWord(statusWordOf(answer.data)),
        result: answer.data['result'] ?? null,
        body: answer.text,
      };
    },
    cancel: async (jobId, callOptions) => {
      const answer = await call('POST', `${jobPath(jobId)}/cancel`, callOptions);
      assertSameJob(answer, jobId, ['job_id', 'request_id']);
      return {
        status: readStatusWord(statusWordOf(answer.data)),
        canceled: answer.data['canceled'] === true,
      };
    },
  };
}

function jobPath(jobId: string): string {
  assertJobId(jobId);
  return `/jobs/${pathSegment(jobId)}`;
}

/** URL parsers take `.` and `..` as steps even when they are percent-encoded, so no path can hold them. */
function pathSegment(text: string): string {
  if (text === '' || text === '.' || text === '..') {
    throw new InputError(
      `${JSON.stringify(text)} cannot be part of a path. Pass the id as Sume gave it.`,
    );
  }
  return encodeURIComponent(text);
}

function timedOut(request: string, timeoutMs: number): SumeUnreachableError {
  return new SumeUnreachableError(
    `${request} got no answer within ${timeoutMs} ms. It tells nothing about the job; ask again later.`,
    { timedOut: true },
  );
}
