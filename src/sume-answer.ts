import type { Clock } from './clock.ts';
import { SumeAnswerError, SumeApiError } from './errors.ts';

/** A 2xx answer, unwrapped. */
export interface Answer {
  request: string;
  status: number;
  text: string;
  /** What the envelope's `data` holds. */
  data: Record<string, unknown>;
}

/**
 * Unwraps an answer. `bytes` is null for one that is longer than the cap. Throws a `SumeApiError` for an error
 * status and a `SumeAnswerError` for a success that is not what the route promises.
 */
export function readAnswer(
  request: string,
  answer: { response: Response; bytes: Uint8Array | null },
  clock: Clock,
): Answer {
  const { response, bytes } = answer;
  const text = bytes === null ? '' : new TextDecoder().decode(bytes);
  const value = parsed(text);
  if (!response.ok) {
    const envelope = isRecord(value) ? value : {};
    const error = isRecord(envelope['error']) ? envelope['error'] : {};
    throw new SumeApiError({
      request,
      status: response.status,
      apiCode: stringOrNull(error['code']),
      message: stringOrNull(error['message']),
      requestId: stringOrNull(envelope['request_id']),
      retryAfterMs: readRetryAfter(response.headers.get('retry-after'), clock),
    });
  }
  const fault = (what: string): SumeAnswerError =>
    new SumeAnswerError(request, response.status, what);
  if (bytes === null) throw fault('the answer is longer than the cap');
  if (text.trim() === '') throw fault('the answer is empty');
  if (value === undefined) throw fault('the answer is not JSON');
  if (!isRecord(value) || !isRecord(value['data'])) throw fault('it holds no "data" object');
  return { request, status: response.status, text, data: value['data'] };
}

/** Undefined for what is not JSON. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** `Retry-After` in milliseconds from now: whole seconds, or an HTTP date. Null when absent or neither. */
function readRetryAfter(header: string | null, clock: Clock): number | null {
  if (header === null) return null;
  if (/^\d{1,9}$/.test(header)) return Number(header) * 1000;
  // Date.parse alone takes "-5" for a date.
  if (!/^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/.test(header)) return null;
  const at = Date.parse(header);
  return Number.isNaN(at) ? null : Math.max(0, at - clock.now());
}

/** An answer about another job must never be written to this one. */
export function assertSameJob(answer: Answer, jobId: string, keys: readonly string[]): void {
  for (const key of keys) {
    const told = answer.data[key];
    if (typeof told === 'string' && told !== jobId) {
      throw new SumeAnswerError(
        answer.request,
        answer.status,
        `it is about the job ${JSON.stringify(told)}`,
      );
    }
  }
}

/** Whether the value is a JSON object. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function stringOrNull(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}
