import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { hrtimeNow } from 'tinybench';
import { createRandom } from '../../sim/engine/random.ts';
import type { Figure } from './figure.ts';
import { loadHttp } from './http-load.ts';
import { interleave } from './interleave.ts';
import type { FromChild, ToChild } from './server-child.ts';

const CONNECTIONS = 16;
const REQUESTS = 3_000;
const PAIRS = 15;
const WARMUP = 5;
const JOBS = 10_000;
const ROUNDS = 2;

/**
 * The fake on a port under load: status reads against a bare `node:http` that answers the same bytes, and
 * jobs by the ten thousand whose receiver refuses half of all attempts.
 */
export async function benchServer(): Promise<Record<string, Figure>> {
  const fake = await startChild('fake');
  try {
    return { ...(await readStatuses(fake)), ...(await runJobs(fake)) };
  } finally {
    fake.end();
  }
}

async function readStatuses(fake: Child): Promise<Record<string, Figure>> {
  const baseUrl = `http://127.0.0.1:${fake.port}/v1`;
  const jobId = await submit(baseUrl, 'read', undefined);
  const path = `/v1/jobs/${jobId}/status`;
  await fake.settle();
  const answer = await fetch(`http://127.0.0.1:${fake.port}${path}`, { headers: KEY });
  const bare = await startChild('bare', await answer.text());
  const took = { fake: [] as number[], bare: [] as number[] };
  const load = async (port: number, into: number[]): Promise<void> => {
    into.push(...(await loadHttp({ port, path, connections: CONNECTIONS, requests: REQUESTS })));
  };
  const { ratio, subjectMs, baselineMs } = await interleave({
    pairs: PAIRS,
    warmup: WARMUP,
    prepare: async () => {},
    subject: () => load(fake.port, took.fake),
    baseline: () => load(bare.port, took.bare),
  });
  bare.end();
  const perSecond = (ms: number): number => Math.round((REQUESTS / ms) * 1_000);
  return {
    'status reads a second / of a bare node:http with the same bytes': {
      value: 1 / ratio,
      unit: 'ratio',
      goal: { atLeast: 0.5 },
      inputs: {
        connections: CONNECTIONS,
        requestsPerBatch: REQUESTS,
        batches: PAIRS,
        fakePerSecond: perSecond(subjectMs),
        barePerSecond: perSecond(baselineMs),
        fakeP99Ms: p99(took.fake),
        bareP99Ms: p99(took.bare),
      },
    },
  };
}

/** Jobs submitted, run, pushed and pushed again, until every delivery has come to its end. */
async function runJobs(fake: Child): Promise<Record<string, Figure>> {
  const baseUrl = `http://127.0.0.1:${fake.port}/v1`;
  const counts = { attempts: 0, taken: 0, delivered: 0, givenUp: 0, missing: 0 };
  const heaps: number[] = [];
  const startedAt = hrtimeNow();
  for (let round = 0; round < ROUNDS; round += 1) {
    const receiver = await startReceiver(round);
    let next = 0;
    const lane = async (): Promise<void> => {
      while (next < JOBS) {
        next += 1;
        await submit(baseUrl, `${round}-${next}`, receiver.url);
      }
    };
    await Promise.all(Array.from({ length: CONNECTIONS }, lane));
    await fake.settle();
    for (const { state, jobId } of await fake.deliveries()) {
      if (state === 'delivered' && receiver.taken.has(jobId)) counts.delivered += 1;
      else if (state === 'given-up' && !receiver.taken.has(jobId)) counts.givenUp += 1;
      else counts.missing += 1;
    }
    counts.attempts += receiver.attempts();
    counts.taken += receiver.taken.size;
    await receiver.close();
    await fake.ask('reset');
    heaps.push(await fake.ask('memory'));
  }
  const seconds = (hrtimeNow() - startedAt) / 1_000;
  const jobs = JOBS * ROUNDS;
  return {
    'deliveries accounted for / jobs that ended': {
      value: (counts.delivered + counts.givenUp) / jobs,
      unit: 'ratio',
      goal: { atLeast: 1 },
      inputs: { jobs, ...counts, seconds: Math.round(seconds) },
    },
    [`memory that ${JOBS} more jobs leave behind`]: {
      value: ((heaps.at(-1) ?? 0) - (heaps[0] ?? 0)) / (ROUNDS - 1) / 2 ** 20,
      unit: 'MB',
      goal: { atMost: 5 },
      inputs: { rounds: ROUNDS, heapsMb: heaps.map((bytes) => Math.round(bytes / 2 ** 20)).join() },
    },
  };
}

const KEY = { 'x-api-key': 'k' };

async function submit(baseUrl: string, key: string, webhookUrl?: string): Promise<string> {
  const response = await fetch(`${baseUrl}/models/sume/avatar-video/v1.0/runs`, {
    method: 'POST',
    headers: { ...KEY, 'content-type': 'application/json', 'idempotency-key': key },
    body: JSON.stringify(webhookUrl === undefined ? {} : { webhook_url: webhookUrl }),
  });
  const { data } = (await response.json()) as { data?: { request_id: string } };
  if (data === undefined) throw new Error(`The submit was answered ${response.status}.`);
  return data.request_id;
}

/** Refuses half of all attempts, as a seed decides. */
async function startReceiver(seed: number): Promise<{
  url: string;
  taken: Set<string>;
  attempts: () => number;
  close: () => Promise<void>;
}> {
  const random = createRandom(seed);
  const taken = new Set<string>();
  let attempts = 0;
  const server = createServer((request, response) => {
    let body = '';
    request.on('data', (piece: Buffer) => (body += piece.toString()));
    request.on('end', () => {
      attempts += 1;
      response.statusCode = random.chance(0.5) ? 500 : 200;
      if (response.statusCode === 200) taken.add((JSON.parse(body) as { job_id: string }).job_id);
      response.end();
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`,
    taken,
    attempts: () => attempts,
    close: async () => {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

interface Child {
  port: number;
  /** Gives the heap in bytes. */
  ask: (what: ToChild) => Promise<number>;
  settle: () => Promise<void>;
  deliveries: () => Promise<{ state: string; jobId: string }[]>;
  end: () => void;
}

async function startChild(...args: string[]): Promise<Child> {
  const child: ChildProcess = fork(
    fileURLToPath(new URL('server-child.ts', import.meta.url)),
    args,
    { execArgv: ['--expose-gc', '--import', 'tsx'] },
  );
  const [{ port = 0 }] = (await once(child, 'message')) as [FromChild];
  const control = async (path: string, init: RequestInit = {}): Promise<unknown> => {
    const response = await fetch(`http://127.0.0.1:${port}/__sim${path}`, init);
    if (!response.ok) throw new Error(`${path}: ${(await response.text()).slice(0, 2_000)}`);
    return response.json();
  };
  return {
    port,
    ask: async (what) => {
      const answered = once(child, 'message');
      child.send(what);
      const [{ heapBytes = 0 }] = (await answered) as [FromChild];
      return heapBytes;
    },
    settle: async () => {
      await control('/settle', {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ timeoutMs: 300_000 }),
      });
    },
    deliveries: async () => {
      const { deliveries } = (await control('/deliveries')) as {
        deliveries: { state: string; jobId: string }[];
      };
      return deliveries;
    },
    end: () => {
      child.kill();
    },
  };
}

function p99(values: number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return Math.round((sorted[Math.floor(sorted.length * 0.99)] ?? Number.NaN) * 100) / 100;
}
