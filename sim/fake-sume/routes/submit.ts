import { badRequest, Refusal, success, type Answer } from '../answer.ts';
import { jobType, MAX_KEY_LENGTH, REFUSALS, takesWebhookUrl } from '../assumptions.ts';
import type { Job } from '../job.ts';
import type { JsonObject, JsonValue } from '../wire-json.ts';
import { jobUrls, type Call } from './call.ts';

const MODES: readonly string[] = ['async', 'sync', 'subscribe', 'webhook'];

/**
 * `POST /models/{model}/runs`: makes a job, or gives the one that its idempotency key already made.
 *
 * @param spendCredit called once for each new job, before there is one; throws the 402.
 * @returns 202 and the job. `sync` and `subscribe` answer as `async` does.
 */
export function submit(
  call: Call,
  spendCredit: () => void,
): { answer: Answer; job: Job; isNew: boolean } {
  const body = parseBody(call.body);
  const submission = {
    model: call.parameter,
    body,
    mode: modeOf(body),
    webhookUrl: webhookUrlOf(body),
    idempotencyKey: idempotencyKeyOf(call.arrival.header('idempotency-key')),
  };
  if (submission.mode === 'webhook' && submission.webhookUrl === null) {
    throw badRequest('mode is "webhook" but there is no webhook_url: give one.');
  }
  const submitted = call.ledger.submit(submission, spendCredit);
  const { job } = submitted;
  if (submitted.kind === 'other-body') {
    throw new Refusal(
      REFUSALS.otherBodyForKey,
      'This Idempotency-Key was used with another body: use a new key for a new request.',
      { details: { request_id: job.id } },
    );
  }
  job.reported.add(job.status);
  const answer = success(
    {
      request_id: job.id,
      ...jobUrls(call.baseUrl, job.id),
      idempotency_hit: submitted.kind === 'known',
      sync: null,
      job: { id: job.id, type: jobType(job.model), status: job.status },
    },
    202,
  );
  return { answer, job, isNew: submitted.kind === 'created' };
}

function parseBody(text: string): JsonObject {
  let body: JsonValue;
  try {
    body = JSON.parse(text) as JsonValue;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw badRequest(`The body is not JSON: ${error.message}`);
  }
  if (body === null || typeof body !== 'object' || Array.isArray(body)) {
    throw badRequest('The body is not a JSON object: send the input of the model as an object.');
  }
  return body;
}

function modeOf(body: JsonObject): string {
  const mode = body['mode'] ?? 'async';
  if (typeof mode !== 'string' || !MODES.includes(mode)) {
    throw badRequest(`mode is ${JSON.stringify(mode)}: give one of ${MODES.join(', ')}.`);
  }
  return mode;
}

function webhookUrlOf(body: JsonObject): string | null {
  const given = [body['webhook_url'], body['callback_url']].filter(
    (url) => url !== undefined && url !== null,
  );
  if (given.length > 1) {
    throw badRequest('webhook_url and callback_url are both there: give one of them.');
  }
  const [url] = given;
  if (url === undefined) return null;
  if (typeof url !== 'string' || !takesWebhookUrl(url)) {
    throw badRequest(
      `The webhook address ${JSON.stringify(url)} cannot be used: give an https address, or http on ` +
        'loopback, without a user name.',
    );
  }
  return url;
}

function idempotencyKeyOf(key: string | null): string | null {
  if (key === null) return null;
  if (key === '' || key.length > MAX_KEY_LENGTH) {
    throw badRequest(
      `The Idempotency-Key has ${key.length} characters: give 1 to ${MAX_KEY_LENGTH}, or no header.`,
    );
  }
  return key;
}
