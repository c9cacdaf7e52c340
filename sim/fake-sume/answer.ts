import { REFUSALS } from './assumptions.ts';
import type { JsonObject } from './wire-json.ts';

/** An HTTP answer before it is one, so that it can be kept, logged or lost. */
export interface Answer {
  status: number;
  headers: Record<string, string>;
  body: string;
}

const JSON_TYPE = { 'content-type': 'application/json' };

/** Sume's envelope for what went well: `{ "data": … }`. */
export function success(data: JsonObject, status = 200): Answer {
  return { status, headers: { ...JSON_TYPE }, body: JSON.stringify({ data }) };
}

/** A refusal, as routes throw it; the front desk turns it into Sume's error envelope. */
export class Refusal extends Error {
  readonly code: string;
  override readonly name = 'Refusal';
  readonly status: number;
  readonly details: JsonObject;
  readonly headers: Record<string, string>;

  constructor(
    kind: { status: number; code: string },
    message: string,
    extra: { details?: JsonObject; headers?: Record<string, string> } = {},
  ) {
    super(message);
    this.code = kind.code;
    this.status = kind.status;
    this.details = extra.details ?? {};
    this.headers = extra.headers ?? {};
  }
}

/**
 * Sume's envelope for what went wrong: `{ "error": { code, message, details }, "request_id" }`.
 *
 * @param requestId names the request in the error, as `req_…`.
 */
export function failure(refusal: Refusal, requestId: string): Answer {
  const error = { code: refusal.code, message: refusal.message, details: refusal.details };
  return {
    status: refusal.status,
    headers: { ...JSON_TYPE, ...refusal.headers },
    body: JSON.stringify({ error, request_id: requestId }),
  };
}

/** A plain `Response`: MSW's own JSON responses are slow in some browsers. */
export function toResponse(answer: Answer): Response {
  // A Response refuses any body, even an empty one, for the statuses that have none.
  const bodiless = answer.status === 204 || answer.status === 205 || answer.status === 304;
  return new Response(bodiless ? null : answer.body, {
    status: answer.status,
    headers: answer.headers,
  });
}

/** The usual refusal of a request that does not fit, with what would. */
export function badRequest(message: string, details: JsonObject = {}): Refusal {
  return new Refusal(REFUSALS.badRequest, message, { details });
}
