import { Counter, Gauge, Registry } from 'prom-client';
import {
  SumeApiError,
  type Database,
  type Queryable,
  type ReceiveOutcome,
  type Reconciler,
  type RegisterOutcome,
  type SweepReport,
} from '../../../src/index.ts';

/**
 * What is measured, in Prometheus's text format. Names and labels are OpenTelemetry's, written as its own
 * exporter for Prometheus writes them: `_` for `.`, the unit at the end, `_total` for counters.
 *
 * Gauges are read from the tables when they are asked for, and so are the same in every process: take their max.
 * Counters are each process's own and begin at 0 with it: sum their rates.
 */
export interface Metrics {
  received(outcome: ReceiveOutcome): void;
  /** What a delivery of a webhook was answered. */
  answered(httpStatus: number): void;
  submitted(outcome: 'accepted' | 'repeated' | 'failed', error?: unknown): void;
  retried(): void;
  registered(outcome: RegisterOutcome): void;
  /** Null: the sweep as a whole failed. */
  swept(report: SweepReport | null): void;
  write(): Promise<{ contentType: string; text: string }>;
}

export function createMetrics(parts: {
  database: Database;
  reconciler: Pick<Reconciler, 'parked'>;
  staleAfterMs: number;
  now: () => number;
}): Metrics {
  const registry = new Registry();
  const registers = [registry];
  const gauge = (name: string, help: string): Gauge => new Gauge({ name, help, registers });
  const counter = <Label extends string>(
    name: string,
    help: string,
    labelNames: Label[],
  ): Counter<Label> => new Counter({ name, help, labelNames, registers });

  const parked = gauge('sume_parked_events', 'Webhook events whose job nobody has registered.');
  const parkedAge = gauge('sume_parked_oldest_age_seconds', 'Age of the oldest of them, or 0.');
  const stale = gauge('sume_jobs_stale', 'Open jobs that nothing was heard of for STALE_AFTER_MS.');
  const waiting = gauge('sume_orders_waiting', 'Orders that Sume has not confirmed yet.');
  const waitingAge = gauge('sume_orders_waiting_oldest_age_seconds', 'Age of the oldest, or 0.');

  const received = counter('sume_webhook_outcomes_total', 'What came of webhook events.', [
    'outcome',
  ]);
  const answered = counter('sume_webhook_responses_total', 'What webhooks were answered.', [
    'http_response_status_code',
  ]);
  const submits = counter('sume_submit_attempts_total', 'What came of submits.', [
    'outcome',
    'error_type',
  ]);
  const retries = counter('sume_submit_retries_total', 'Submits that were tried before.', []);
  const registered = counter('sume_register_outcomes_total', 'What came of registering jobs.', [
    'outcome',
  ]);
  const sweeps = counter('sume_sweeps_total', 'Sweeps.', ['outcome']);
  const sweptRows = counter('sume_sweep_rows_total', 'What came of the rows of sweeps.', [
    'kind',
    'outcome',
    'status',
  ]);

  const readTables = async (): Promise<void> => {
    const { count, oldestAgeMs } = await parts.reconciler.parked({ limit: 1 });
    const nowMs = parts.now();
    const jobs = await staleJobs(parts.database, new Date(nowMs - parts.staleAfterMs));
    const orders = await waitingOrders(parts.database);
    parked.set(count);
    parkedAge.set((oldestAgeMs ?? 0) / 1000);
    stale.set(jobs);
    waiting.set(orders.count);
    waitingAge.set(orders.oldest === null ? 0 : (nowMs - orders.oldest.getTime()) / 1000);
  };

  return {
    received: (outcome) => received.inc({ outcome }),
    answered: (httpStatus) => answered.inc({ http_response_status_code: String(httpStatus) }),
    submitted: (outcome, error) => submits.inc({ outcome, error_type: typeOf(error) }),
    retried: () => retries.inc(),
    registered: (outcome) => registered.inc({ outcome }),
    swept: (report) => {
      sweeps.inc({ outcome: report === null ? 'failed' : 'completed' });
      for (const row of report?.rows ?? []) {
        const status = row.kind === 'stale' ? (row.status ?? '') : '';
        sweptRows.inc({ kind: row.kind, outcome: row.outcome, status });
      }
    },
    write: async () => {
      await readTables();
      return { contentType: registry.contentType, text: await registry.metrics() };
    },
  };
}

/** Both have a partial index to themselves, which stays small however many jobs have ended. */
async function staleJobs(database: Queryable, before: Date): Promise<number> {
  const { rows } = await database.query<{ count: number }>(
    'select count(*)::int as count from sume_jobs where rank < 2 and updated_at <= $1',
    [before],
  );
  return rows[0]?.count ?? 0;
}

async function waitingOrders(database: Queryable): Promise<{ count: number; oldest: Date | null }> {
  const { rows } = await database.query<{ count: number; oldest: Date | null }>(
    `select count(*)::int as count, min(placed_at) as oldest from orders
     where job_id is null and refusal is null`,
  );
  return rows[0] ?? { count: 0, oldest: null };
}

/** As OpenTelemetry has it: the HTTP status where Sume refused, else a word of which there are few. */
function typeOf(error: unknown): string {
  if (error === undefined) return '';
  if (error instanceof SumeApiError) return String(error.status);
  if (!(error instanceof Error)) return typeof error;
  return 'code' in error ? String(error.code) : error.name;
}
