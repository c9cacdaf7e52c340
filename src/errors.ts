/** The caller passed something that no retry can make right. Nothing was written. */
export class InputError extends Error {
  override readonly name = 'InputError';
  readonly code = 'invalid_input';
}

/** `register` was given a transaction at a level where the per-job lock does not protect. Nothing was written. */
export class IsolationError extends Error {
  override readonly name = 'IsolationError';
  readonly code = 'wrong_isolation';
  /** The level of the transaction that was given, as PostgreSQL spells it. */
  readonly found: string;
  /** The level that would do. */
  readonly needed: string;

  constructor(found: string, needed: string) {
    super(
      `The transaction given runs at "${found}", where a parked event can be missed. ` +
        `Begin it at "${needed}", or leave the transaction out and the core opens its own.`,
    );
    this.found = found;
    this.needed = needed;
  }
}

/** A row changed under every try to tell where it stands. Nothing was written; trying again is right. */
export class ContentionError extends Error {
  override readonly name = 'ContentionError';
  readonly code = 'contention';

  constructor(jobId: string, attempts: number) {
    super(
      `Job ${JSON.stringify(jobId)} changed during each of ${attempts} tries to write it. ` +
        'Try again; if it goes on, something deletes and inserts this row in a loop.',
    );
  }
}

/** COMMIT was answered by a rollback: a statement had failed and the error was swallowed by the work. */
export class TransactionRolledBackError extends Error {
  override readonly name = 'TransactionRolledBackError';
  readonly code = 'transaction_rolled_back';

  constructor() {
    super(
      'PostgreSQL rolled the transaction back instead of committing it, because a statement in it had ' +
        'failed and its error was caught. Nothing was written. Let the error through.',
    );
  }
}

/** Sume answered with an error of its own. */
export class SumeApiError extends Error {
  override readonly name = 'SumeApiError';
  readonly code = 'sume_api';
  /** HTTP status. */
  readonly status: number;
  /** Sume's own code, such as `job_not_found`; null when the answer held none. */
  readonly apiCode: string | null;
  /** Sume's id of the request, for its support; null when the answer held none. */
  readonly requestId: string | null;
  /** How long Sume asks to wait, in milliseconds; null when it did not say. */
  readonly retryAfterMs: number | null;

  constructor(facts: {
    request: string;
    status: number;
    apiCode: string | null;
    message: string | null;
    requestId: string | null;
    retryAfterMs: number | null;
  }) {
    const told = [facts.apiCode, facts.message].filter((part) => part !== null).join(': ');
    super(
      `${facts.request} was answered ${facts.status}${told === '' ? '' : ` ${told}`}` +
        `${facts.requestId === null ? '' : ` (${facts.requestId})`}. ` +
        (facts.retryAfterMs === null
          ? 'It tells nothing about the job.'
          : `Wait ${facts.retryAfterMs} ms before the next request.`),
    );
    this.status = facts.status;
    this.apiCode = facts.apiCode;
    this.requestId = facts.requestId;
    this.retryAfterMs = facts.retryAfterMs;
  }
}

/** No answer came: the connection failed, or the time ran out. Whether Sume acted on the request is unknown. */
export class SumeUnreachableError extends Error {
  override readonly name = 'SumeUnreachableError';
  readonly code = 'sume_unreachable';
  /** True when the time limit ended the request. */
  readonly timedOut: boolean;

  constructor(message: string, options: { timedOut: boolean; cause?: unknown }) {
    super(message, { cause: options.cause });
    this.timedOut = options.timedOut;
  }
}

/** A 2xx answer that is not what the route promises: HTML, nothing, broken JSON, another job. */
export class SumeAnswerError extends Error {
  override readonly name = 'SumeAnswerError';
  readonly code = 'sume_answer';
  /** HTTP status of the answer. */
  readonly status: number;

  constructor(request: string, status: number, fault: string, options?: { cause?: unknown }) {
    super(
      `${request} was answered ${status}, but ${fault}. It tells nothing about the job; ask again later.`,
      options,
    );
    this.status = status;
  }
}
