import { assertWhole } from './assert-whole.ts';
import { systemClock, type Clock } from './clock.ts';
import { InputError } from './errors.ts';
import { readEvent } from './event.ts';
import { readCapped } from './read-capped.ts';
import type { Reconciler } from './reconciler.ts';
import {
  createSignatureVerifier,
  SIGNATURE_HEADER,
  TIMESTAMP_HEADER,
  type SignatureVerdict,
} from './signature.ts';

export interface WebhookOptions {
  reconciler: Pick<Reconciler, 'receive'>;
  /** The endpoint's signing secret; during a rotation the old and the new one. */
  secrets: string | readonly string[];
  clock?: Clock | undefined;
  /** The most that a delivery's timestamp may be off to either side; 300,000 by default. */
  toleranceMs?: number | undefined;
  /** The longest body that is read; 1 MiB by default. */
  maxBodyBytes?: number | undefined;
  /** Receives what made the store fail, which is answered 503; `console.error` by default. */
  onError?: ((error: unknown) => void) | undefined;
}

const DEFAULT_MAX_BODY_BYTES = 1024 * 1024;

/** As long as Sume waits between two attempts. */
const RETRY_AFTER_SECONDS = 30;

/**
 * Makes the endpoint for Sume's webhooks: a `Request` in, a `Response` out, for any framework that can hand over
 * the body as it was sent. Answers are JSON: `{ outcome, job_id }` or `{ error: { code, message } }`.
 *
 * | case, in the order tested | answer |
 * |---|---|
 * | not POST | 405 |
 * | body over the cap | 413 |
 * | signature missing, malformed or wrong; timestamp not an integer or out of tolerance | 401 |
 * | verified, but no JSON object with an event name, or a known event without a usable `job_id` | 400 |
 * | event name not known | 204 |
 * | applied, duplicate or conflict | 200 |
 * | parked | 202 |
 * | the store failed, a hook included | 503 with `Retry-After: 30` |
 *
 * The database is touched only for a verified, known event, and 2xx is sent only after the commit. It throws an
 * `InputError` for a request whose body was read before: no signature can be checked then.
 */
export function createWebhookHandler(
  options: WebhookOptions,
): (request: Request) => Promise<Response> {
  const {
    reconciler,
    clock = systemClock,
    maxBodyBytes = DEFAULT_MAX_BODY_BYTES,
    onError = console.error,
  } = options;
  assertWhole('maxBodyBytes', maxBodyBytes);
  const verify = createSignatureVerifier(options.secrets, { toleranceMs: options.toleranceMs });

  return async (request) => {
    if (request.method !== 'POST') {
      return refusal(405, 'method_not_allowed', 'Only POST is answered here.', { allow: 'POST' });
    }
    if (request.bodyUsed) {
      throw new InputError(
        'The body of the webhook request was read before the handler got it. Hand over the request as it came ' +
          'in, before any body parser: the signature is over the raw bytes.',
      );
    }
    const body = await bodyOf(request, maxBodyBytes);
    if (body === 'too_large') {
      return refusal(413, 'body_too_large', `The body is longer than ${maxBodyBytes} bytes.`);
    }
    if (body === 'broken') return refusal(400, 'body_incomplete', 'The body broke off.');
    const verdict = await verify({
      body,
      timestamp: request.headers.get(TIMESTAMP_HEADER),
      signature: request.headers.get(SIGNATURE_HEADER),
      nowMs: clock.now(),
    });
    if (verdict !== 'valid') return refusal(401, verdict, UNBELIEVED[verdict]);
    const text = decoded(body);
    if (text === null) return refusal(400, 'not_utf8', 'The body is not UTF-8.');
    const reading = readEvent(text);
    if (reading.kind === 'malformed') {
      return refusal(400, 'malformed_event', `The event cannot be used: ${reading.reason}.`);
    }
    if (reading.kind === 'unknown') return new Response(null, { status: 204 });
    try {
      const outcome = await reconciler.receive(reading.event);
      return json(outcome === 'parked' ? 202 : 200, { outcome, job_id: reading.event.jobId });
    } catch (error) {
      onError(error);
      return refusal(503, 'not_stored', 'The event could not be stored. Send it again.', {
        'retry-after': String(RETRY_AFTER_SECONDS),
      });
    }
  };
}

const UNBELIEVED: Readonly<Record<Exclude<SignatureVerdict, 'valid'>, string>> = {
  no_signature: `${SIGNATURE_HEADER} holds no v1= signature.`,
  bad_timestamp: `${TIMESTAMP_HEADER} is not a whole number of Unix seconds.`,
  outside_tolerance: `${TIMESTAMP_HEADER} is too far from the time here.`,
  wrong_signature: 'No signature matches the body.',
};

async function bodyOf(
  request: Request,
  maxBytes: number,
): Promise<Uint8Array | 'too_large' | 'broken'> {
  // A length that the sender states itself spares reading. One that is missing or wrong changes nothing.
  if (Number(request.headers.get('content-length') ?? 0) > maxBytes) return 'too_large';
  try {
    return (await readCapped(request.body, maxBytes)) ?? 'too_large';
  } catch {
    // Whatever a stream fails with, the rest of the body will not come, and nothing was done yet.
    return 'broken';
  }
}

/** Null for what is not UTF-8. A byte order mark stays, so that the text is the bytes that were signed. */
function decoded(body: Uint8Array): string | null {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(body);
  } catch (error) {
    if (error instanceof TypeError) return null;
    throw error;
  }
}

function refusal(
  status: number,
  code: string,
  message: string,
  headers: Record<string, string> = {},
): Response {
  return json(status, { error: { code, message } }, headers);
}

function json(status: number, value: unknown, headers: Record<string, string> = {}): Response {
  return new Response(JSON.stringify(value), {
    status,
    headers: { 'content-type': 'application/json', ...headers },
  });
}
