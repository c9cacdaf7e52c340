/** Why a delivery was sent. */
export type DeliveryKind =
  /** The end of a job, as Sume sends it: up to ten attempts. */
  | 'event'
  /** The same event once more: one attempt. */
  | 'duplicate'
  /** A second, different end of a job that has ended: up to ten attempts. */
  | 'contradiction'
  /** An event of a type that is not documented: up to ten attempts. */
  | 'announcement'
  /** The bytes and headers of an earlier attempt once more. */
  | 'replay'
  /** Signed with a secret that is not Sume's. */
  | 'forged'
  /** Changed after it was signed. */
  | 'tampered'
  /** Properly signed, with a timestamp out of any tolerance. */
  | 'stale';

/** One event on its way to one receiver, and what became of it. Kept up to date while it is under way. */
export interface Delivery {
  /** Unique in its fake, and the name of its task: `webhook/job_1`. */
  readonly name: string;
  readonly kind: DeliveryKind;
  /** Whether a correct receiver must take it: Sume's signature, over these bytes, lately. */
  readonly genuine: boolean;
  readonly jobId: string;
  readonly event: string;
  /** The same for every attempt and every duplicate of one event. */
  readonly eventId: string;
  readonly url: string;
  /** The bytes that go out, as text. */
  readonly body: string;
  state: DeliveryState;
  readonly attempts: Attempt[];
  /** What broke in the fake itself or in the `spawn` and `clock` that it was given; null if nothing did. */
  error: Error | null;
}

export type DeliveryState =
  /** An attempt is under way or to come. */
  | 'pending'
  /** A receiver answered 2xx. */
  | 'delivered'
  /** No attempt is left. */
  | 'given-up'
  /** The fake was reset or disposed. */
  | 'canceled';

/** One try to bring a delivery to its receiver. Times are milliseconds since the epoch of the fake's clock. */
export interface Attempt {
  /** 1 for the first. */
  readonly number: number;
  readonly sentAtMs: number;
  readonly headers: Readonly<Record<string, string>>;
  endedAtMs: number | null;
  /** What the receiver answered; null if nothing arrived. `body` is its beginning. */
  answer: { status: number; body: string } | null;
  /** Why there is no answer that counts; null while under way and after an answer. */
  failure: AttemptFailure | null;
}

export interface AttemptFailure {
  reason:
    /** No answer within the time limit. */
    | 'no-answer'
    /** The connection failed, or the receiver threw. */
    | 'unreachable'
    /** A control call lost the request before it arrived. */
    | 'delivery-lost'
    /** A control call lost the answer: the receiver did its work. */
    | 'acknowledgement-lost'
    /** The fake was reset or disposed. */
    | 'canceled';
  message: string;
}

/** What the `send` option is told about the attempt that it carries. */
export interface DeliveryAttempt {
  readonly jobId: string;
  readonly event: string;
  readonly eventId: string;
  /** 1 for the first. */
  readonly attempt: number;
  readonly kind: DeliveryKind;
  readonly genuine: boolean;
  /** Name of the delivery: `webhook/job_1`. */
  readonly name: string;
  /** Unix seconds in `X-Sume-Timestamp`. */
  readonly timestamp: number;
}
