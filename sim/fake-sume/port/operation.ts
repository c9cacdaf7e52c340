import type { FakeSume } from '../fake-sume.ts';
import type { Hold } from '../holds.ts';
import type { JsonShape } from '../json-shape.ts';
import type { JsonObject } from '../wire-json.ts';

/** What an operation works on. */
export interface ControlScope {
  fake: FakeSume;
  /** Holds that were placed over HTTP, by their id. */
  holds: Map<string, Hold>;
}

/** What an operation was asked for: both parts are checked against its shapes. */
export interface ControlCall {
  /** The parameters in the path, decoded. */
  path: Readonly<Record<string, string>>;
  /** The parameters in the query. */
  query: Readonly<Record<string, string>>;
  /** An empty object without a body. */
  body: Readonly<Record<string, unknown>>;
}

/** One operation of the control API: it is served, and described, from this. */
export interface Operation {
  method: 'GET' | 'POST';
  /** Below `/__sim`, with parameters as `{name}`. */
  path: string;
  /** Unique; the name of the verb in the control object where there is one. */
  id: string;
  summary: string;
  query?: Readonly<Record<string, string>>;
  body?: JsonShape;
  /** A body that it takes, for whoever asks what to send; none where an empty one says it all. */
  example?: JsonObject;
  /** Gives what is answered as JSON. Throws the errors of the control object. */
  run(scope: ControlScope, call: ControlCall): Promise<unknown>;
}

/** A call of the control API that does not fit. */
export class BadCallError extends Error {
  readonly code = 'bad_call';
  override readonly name = 'BadCallError';
}
