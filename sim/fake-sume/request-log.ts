import type { ArmedAnswer } from './armed-answers.ts';
import type { RouteName } from './route-table.ts';

/** One request that reached the fake, and what was answered. */
export interface RequestRecord {
  /** Null for a path that is no route of Sume's. */
  readonly route: RouteName | null;
  readonly method: string;
  /** Path and query, as they came. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Milliseconds since the epoch of the fake's clock. */
  readonly atMs: number;
  /** Empty for a GET, and while it is on its way. */
  body: string;
  /** The job that it was about, as far as that is known. */
  jobId: string | null;
  /** Null while it is held, and for an answer that was lost. */
  answer: { status: number; body: string } | null;
  /** What it met instead of its usual answer, armed or decided by the seed; null for nothing of the kind. */
  instead: ArmedAnswer['kind'] | null;
  /** By how many milliseconds of the fake's clock its answer was made to be late. */
  delayMs: number;
  /** Whether the client never learnt the answer because a control call lost it. */
  lost: boolean;
}

/** How many requests are kept; older ones are forgotten, so that a long run does not grow. */
const KEPT_REQUESTS = 10_000;

/** The log of the newest requests, oldest first. */
export interface RequestLog {
  readonly records: readonly RequestRecord[];
  add(record: RequestRecord): void;
  clear(): void;
}

/** An empty log. */
export function createRequestLog(): RequestLog {
  const records: RequestRecord[] = [];
  return {
    records,
    add(record) {
      records.push(record);
      // In batches, because taking one from the front moves all the others.
      if (records.length >= KEPT_REQUESTS * 2) records.splice(0, records.length - KEPT_REQUESTS);
    },
    clear() {
      records.length = 0;
    },
  };
}
