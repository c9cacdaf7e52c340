import { readBody } from './request-body.ts';

/**
 * A request as the front desk sees it, by whatever way it came: through MSW as a `Request`, or from a port.
 * A port makes no `Request` of it, because that, and an answer's `Response`, cost more than all the rest.
 */
export interface Arrival {
  readonly method: string;
  /** Path as it came, percent-escapes included, without the query. */
  readonly pathname: string;
  /** With its question mark, or empty. */
  readonly search: string;
  /** Of a header given in lower case; null without one. */
  header(name: string): string | null;
  /** All headers, names in lower case. */
  headers(): Record<string, string>;
  /** Reads the body to its end, or throws the refusal for one that cannot be used. */
  body(): Promise<string>;
  /** Calls when the client goes away before its answer; gives a way to stop listening. */
  onGone(listener: () => void): () => void;
}

/** A request that came through MSW. */
export function arrivalOf(request: Request): Arrival {
  const { pathname, search } = new URL(request.url);
  return {
    method: request.method,
    pathname,
    search,
    header: (name) => request.headers.get(name),
    headers: () => Object.fromEntries(request.headers),
    body: () => readBody(request.body),
    onGone: (listener) => {
      request.signal.addEventListener('abort', listener, { once: true });
      return () => request.signal.removeEventListener('abort', listener);
    },
  };
}
