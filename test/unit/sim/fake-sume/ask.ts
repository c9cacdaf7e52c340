import { getResponse } from 'msw';
import type { FakeSume, JsonObject } from '../../../../sim/fake-sume/index.ts';

/** What a fake answered, with its body read. */
export interface Asked {
  status: number;
  headers: Headers;
  text: string;
  /** The body as JSON; an empty object for one that is not. */
  json: Envelope;
}

/** Either of Sume's envelopes. */
export interface Envelope {
  data?: JsonObject & { request_id?: string; jobs?: JsonObject[]; events?: JsonObject[] };
  error?: { code: string; message: string; details: JsonObject };
  request_id?: string;
}

/** Sends one request straight to the handlers, as a client with a key would. */
export async function ask(
  fake: FakeSume,
  method: string,
  path: string,
  init: { body?: unknown; headers?: Record<string, string> } = {},
): Promise<Asked> {
  const request = new Request(`${fake.baseUrl}${path}`, {
    method,
    headers: {
      authorization: 'Bearer sume_live_test',
      ...(init.body === undefined ? {} : { 'content-type': 'application/json' }),
      ...init.headers,
    },
    ...(init.body === undefined
      ? {}
      : { body: typeof init.body === 'string' ? init.body : JSON.stringify(init.body) }),
  });
  const response = await getResponse(fake.handlers, request);
  if (response === undefined) throw new Error(`No handler took ${method} ${request.url}.`);
  const text = response.type === 'error' ? '' : await response.text();
  return {
    status: response.status,
    headers: response.headers,
    text,
    json: /json/.test(response.headers.get('content-type') ?? '')
      ? (JSON.parse(text) as Envelope)
      : {},
  };
}

/** Submits a job that has a webhook address, and gives its id. */
export async function submitJob(
  fake: FakeSume,
  options: { key?: string; body?: JsonObject } = {},
): Promise<string> {
  const asked = await ask(fake, 'POST', '/models/sume/avatar-video/v1.0/runs', {
    body: { prompt: 'a wave', webhook_url: 'https://app.example/hook', ...options.body },
    headers: options.key === undefined ? {} : { 'idempotency-key': options.key },
  });
  const id = asked.json.data?.request_id;
  if (id === undefined) throw new Error(`The submit was refused: ${asked.text}`);
  return id;
}
