/**
 * The reconciliation core.
 *
 * Words. *job*: one row per Sume job id. *rank*: queued 0, processing 1, terminal 2 (completed, failed, canceled,
 * expired); a write may only raise it. *parked event*: a verified terminal event whose job row does not exist
 * yet. *drain*: apply and delete the parked event in the transaction that inserts the job. *orphan*: a parked
 * event nobody claimed.
 */
export { systemClock, type Clock } from './clock.ts';
export type {
  Database,
  Isolation,
  Queryable,
  QueryResult,
  TransactionOptions,
} from './database.ts';
export {
  ContentionError,
  InputError,
  IsolationError,
  SumeAnswerError,
  SumeApiError,
  SumeUnreachableError,
  TransactionRolledBackError,
} from './errors.ts';
export {
  readEvent,
  type EventReading,
  type TerminalEvent,
  type TerminalEventName,
} from './event.ts';
export type { Job } from './jobs.ts';
export type { ParkedEvent, ParkedReport } from './parking.ts';
export {
  postgresDatabase,
  postgresTransaction,
  type PostgresClient,
  type PostgresOptions,
  type PostgresPool,
  type PostgresPoolClient,
  type PostgresResult,
} from './postgres.ts';
export {
  createReconciler,
  type AdvanceOptions,
  type AdvanceOutcome,
  type DismissOutcome,
  type PollOutcome,
  type ReceiveOutcome,
  type Reconciler,
  type ReconcilerOptions,
  type RegisterOutcome,
} from './reconciler.ts';
export { migrate } from './schema.ts';
export type { OnTerminal, TerminalJob } from './settle.ts';
export {
  createSignatureVerifier,
  SIGNATURE_HEADER,
  TIMESTAMP_HEADER,
  type SignatureVerdict,
  type SignatureVerifier,
  type SignedDelivery,
} from './signature.ts';
export {
  isTerminal,
  rankOf,
  readStatusWord,
  type JobStatus,
  type Rank,
  type TerminalStatus,
} from './status.ts';
export {
  createSumeClient,
  type CallOptions,
  type CancelAnswer,
  type JobAnswer,
  type ResultAnswer,
  type StatusAnswer,
  type SubmitAnswer,
  type SubmitRequest,
  type SumeClient,
  type SumeClientOptions,
} from './sume-client.ts';
export type { RunOptions, SweepOptions, SweepReport, SweepRow } from './sweeper.ts';
export type { Concurrency } from './transactions.ts';
export { createWebhookHandler, type WebhookOptions } from './webhook.ts';
