import type { IncomingMessage, ServerResponse } from 'node:http';
import { Refusal, type Answer } from '../answer.ts';
import type { Arrival } from '../arrival.ts';
import { brokenOff, createBodyText } from '../request-body.ts';

/** A request from a port, without the detour of a `Request`. */
export function arrivalFrom(message: IncomingMessage, response: ServerResponse): Arrival {
  const { pathname, search } = splitTarget(message.url ?? '/');
  return {
    method: message.method ?? 'GET',
    pathname,
    search,
    header: (name) => headerOf(message, name),
    headers: () => {
      const headers: Record<string, string> = {};
      for (const name of Object.keys(message.headers)) {
        headers[name] = headerOf(message, name) ?? '';
      }
      return headers;
    },
    body: () => readMessage(message),
    onGone: (listener) => {
      response.once('close', listener);
      return () => response.off('close', listener);
    },
  };
}

/** Writes an answer; with null ends the connection as a network does that loses it. */
export function answerTo(response: ServerResponse, answer: Answer | null): void {
  if (answer === null) {
    response.socket?.resetAndDestroy();
    return;
  }
  const bodiless = answer.status === 204 || answer.status === 304;
  response.writeHead(answer.status, {
    ...answer.headers,
    // Whoever sends too much is not listened to until they are done.
    ...(answer.status === 413 ? { connection: 'close' } : {}),
    ...(bodiless ? {} : { 'content-length': Buffer.byteLength(answer.body) }),
  });
  response.end(bodiless ? undefined : answer.body);
}

/** The target of a request line: usually a path as it is, but a whole URL is allowed too. */
function splitTarget(target: string): { pathname: string; search: string } {
  const path = target.startsWith('/') ? target : pathOfUrl(target);
  const mark = path.indexOf('?');
  return mark < 0
    ? { pathname: path, search: '' }
    : { pathname: path.slice(0, mark), search: path.slice(mark) };
}

function pathOfUrl(target: string): string {
  if (!URL.canParse(target)) return '/';
  const { pathname, search } = new URL(target);
  return pathname + search;
}

function headerOf(message: IncomingMessage, name: string): string | null {
  const value = message.headers[name];
  if (value === undefined) return null;
  return Array.isArray(value) ? value.join(', ') : value;
}

async function readMessage(message: IncomingMessage): Promise<string> {
  const text = createBodyText();
  try {
    // A body that is refused must not end the connection before the refusal is written.
    const pieces = message.iterator({ destroyOnReturn: false }) as AsyncIterable<Uint8Array>;
    for await (const piece of pieces) text.add(piece);
    return text.end();
  } catch (error) {
    // What is left of it must not stand before the next request on this connection.
    message.resume();
    throw error instanceof Refusal ? error : brokenOff(error);
  }
}
