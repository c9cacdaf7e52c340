import type { Pool } from 'pg';
import type { Reconciler, TerminalEvent } from '../../src/index.ts';
import { openSchema } from '../setup/postgres-schema.ts';
import type { Figure } from './figure.ts';
import { interleave } from './interleave.ts';
import { core } from './published.ts';

const { createReconciler, migrate, postgresDatabase } = core;

const PAIRS = 31;
const WARMUP = 10;

/**
 * What `receive` adds to the one guarded update that it comes down to when the job is known: on one
 * connection, call after call, and as throughput on sixteen. The bare update is a prepared statement with
 * the same columns, sent through the same pool. The server flushes its commits, as one in production does; on
 * one that does not, the same few microseconds weigh more.
 */
export async function benchReceive(serverUrl: string): Promise<Record<string, Figure>> {
  const oneByOne = await compare(serverUrl, { connections: 1, calls: 100 });
  const together = await compare(serverUrl, { connections: 16, calls: 800 });
  return {
    'receive of a known job / bare guarded update, one connection': {
      value: oneByOne.ratio,
      unit: 'ratio',
      goal: { atMost: 1.05 },
      inputs: inputs(oneByOne),
    },
    'throughput of receive / of the bare guarded update, 16 connections': {
      value: 1 / together.ratio,
      unit: 'ratio',
      goal: { atLeast: 0.9 },
      inputs: inputs(together),
    },
  };
}

type Comparison = Awaited<ReturnType<typeof compare>>;

async function compare(serverUrl: string, load: { connections: number; calls: number }) {
  const { pool, close } = await openSchema(serverUrl, { connections: load.connections });
  const database = postgresDatabase(pool);
  await migrate(database);
  const reconciler = createReconciler({ database });
  const measured = await interleave({
    pairs: PAIRS,
    warmup: WARMUP,
    prepare: (pair) => queueJobs(pool, pair, load.calls),
    subject: (pair) =>
      inLanes(load, (call) => viaCore(reconciler, eventOf(`core_${pair}_${call}`))),
    baseline: (pair) => inLanes(load, (call) => bare(pool, eventOf(`bare_${pair}_${call}`))),
  });
  await close();
  return { ...load, ...measured };
}

function inputs(found: Comparison): Figure['inputs'] {
  const perSecond = (ms: number): number => Math.round((found.calls / ms) * 1_000);
  return {
    connections: found.connections,
    callsPerBatch: found.calls,
    batches: PAIRS,
    receivePerSecond: perSecond(found.subjectMs),
    barePerSecond: perSecond(found.baselineMs),
  };
}

async function queueJobs(pool: Pool, pair: number, calls: number): Promise<void> {
  await pool.query('truncate sume_jobs');
  await pool.query(
    `insert into sume_jobs (job_id, status, rank, created_at, updated_at)
      select kind || $1::text || '_' || call, 'queued', 0, $3, $3
      from unnest(array['core_', 'bare_']) as kind, generate_series(0, $2::int - 1) as call`,
    [String(pair), calls, new Date(0)],
  );
}

async function inLanes(
  load: { connections: number; calls: number },
  call: (index: number) => Promise<void>,
): Promise<void> {
  let next = 0;
  const lane = async (): Promise<void> => {
    while (next < load.calls) {
      next += 1;
      await call(next - 1);
    }
  };
  await Promise.all(Array.from({ length: load.connections }, lane));
}

function eventOf(jobId: string): TerminalEvent {
  const result = { artifacts: [{ url: `https://media.example/${jobId}.mp4` }] };
  const event = 'job.completed';
  const body = { event, request_id: jobId, job_id: jobId, status: 'OK', payload: result };
  return { event, jobId, status: 'completed', body: JSON.stringify(body), result };
}

async function viaCore(reconciler: Reconciler, event: TerminalEvent): Promise<void> {
  const outcome = await reconciler.receive(event);
  if (outcome !== 'applied') throw new Error(`receive answered ${outcome}.`);
}

async function bare(pool: Pool, event: TerminalEvent): Promise<void> {
  const { rowCount } = await pool.query({
    name: 'bare',
    text: `update sume_jobs
      set status = $2, rank = 2, result = $3, error = $4, body = $5, updated_at = $6, terminal_at = $6
      where job_id = $1 and rank < 2`,
    values: [
      event.jobId,
      event.status,
      JSON.stringify(event.result),
      null,
      event.body,
      new Date(0),
    ],
  });
  if (rowCount !== 1) throw new Error('The bare update changed no row.');
}
