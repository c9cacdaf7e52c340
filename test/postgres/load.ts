import { createRandom, type Random } from '../../sim/engine/random.ts';
import type { JobStatus, TerminalEvent, TerminalStatus } from '../../src/index.ts';

/** A job as Sume knows it, and how this load polls it. */
export interface LoadJob {
  id: string;
  /** What Sume ended it as. */
  status: TerminalStatus;
  /** The event that says so; a second delivery is the same. */
  event: TerminalEvent;
  /** Whether the polls of this job create its row where nobody has yet. */
  pollsInsert: boolean;
}

/** What is put under load: every call answers with its outcome, or `TRY_LATER`. */
export interface Contender {
  register(job: LoadJob): Promise<string>;
  receive(job: LoadJob): Promise<string>;
  advance(job: LoadJob, status: JobStatus): Promise<string>;
}

/**
 * How many jobs a load has: `SUME_SIM_JOBS` where that is set, else what keeps the whole suite within a minute on
 * two cores.
 */
export function jobCount(usual: number): number {
  const given = process.env['SUME_SIM_JOBS'];
  if (given === undefined || given === '') return usual;
  const jobs = Number(given);
  if (Number.isSafeInteger(jobs) && jobs > 0) return jobs;
  throw new Error(`SUME_SIM_JOBS is ${given}; it must be a whole number from 1, 4000 say.`);
}

/** The call failed and has to be made again: it goes to the end of the queue. */
export const TRY_LATER = 'try later';

/** As often as Sume tries a delivery. */
const MAX_TRIES = 10;

export interface LoadOptions {
  jobs: number;
  /** Calls in flight at a time. */
  lanes: number;
  seed: number;
  /** Done after every `everyCalls` calls (250), while the other lanes go on. */
  meanwhile?: (callsMade: number) => Promise<void>;
  everyCalls?: number;
}

export interface LoadReport {
  jobs: LoadJob[];
  /** How often each call ended how, as `register: reconciled`. */
  outcomes: Record<string, number>;
}

/**
 * For a test that runs a load, in milliseconds. Seconds are enough on a quiet machine; the limit is there to
 * end a test that hangs, not to judge a busy machine.
 */
export const LOAD_TIMEOUT_MS = 600_000;

/** How many jobs are shuffled together: few, so that the calls of one job are in flight at one time. */
const JOBS_PER_SHUFFLE = 4;

/**
 * The load: `register`, the event, the same event again, and two polls of each job, one that saw it
 * processing and one that saw it ended. They come in an order that the seed decides, `lanes` at a time.
 */
export async function runLoad(contender: Contender, options: LoadOptions): Promise<LoadReport> {
  const random = createRandom(options.seed);
  const jobs = makeJobs(options.jobs, random);
  const calls = shuffledCalls(contender, jobs, random);
  const outcomes: Record<string, number> = {};
  const { meanwhile, everyCalls = 250 } = options;
  let next = 0;
  const lane = async (): Promise<void> => {
    // A call that is put off comes back at the end, so `calls` may grow after another lane has left.
    for (let call = calls[next]; call !== undefined; call = calls[next]) {
      next += 1;
      const number = next;
      const outcome = await call.run();
      const name = `${call.name}: ${outcome}`;
      outcomes[name] = (outcomes[name] ?? 0) + 1;
      if (outcome === TRY_LATER) {
        call.tries += 1;
        if (call.tries === MAX_TRIES) throw new Error(`${call.name} failed ${MAX_TRIES} times.`);
        calls.push(call);
      }
      if (meanwhile && number % everyCalls === 0) await meanwhile(number);
    }
  };
  await Promise.all(Array.from({ length: options.lanes }, lane));
  return { jobs, outcomes };
}

/** Jobs that end each way, most of them completed. */
export function makeJobs(count: number, random: Random): LoadJob[] {
  return Array.from({ length: count }, (_, index) => {
    const id = `job_${String(index + 1)}`;
    const status = random.pick([
      'completed',
      'completed',
      'completed',
      'failed',
      'canceled',
    ] as const);
    return { id, status, event: terminalEvent(id, status), pollsInsert: random.chance(0.5) };
  });
}

function terminalEvent(jobId: string, status: 'completed' | 'failed' | 'canceled'): TerminalEvent {
  const event = `job.${status}` as const;
  const outcome =
    status === 'completed'
      ? { payload: { artifacts: [{ url: `https://media.example/${jobId}.mp4` }] } }
      : { error: { code: status, message: `the job ${status}` } };
  const body = {
    event,
    request_id: jobId,
    job_id: jobId,
    status: status === 'completed' ? 'OK' : 'ERROR',
    ...outcome,
  };
  return {
    event,
    jobId,
    status,
    body: JSON.stringify(body),
    ...('payload' in outcome ? { result: outcome.payload } : { error: outcome.error }),
  };
}

interface Call {
  name: string;
  tries: number;
  run: () => Promise<string>;
}

function shuffledCalls(contender: Contender, jobs: LoadJob[], random: Random): Call[] {
  const calls: Call[] = [];
  for (let start = 0; start < jobs.length; start += JOBS_PER_SHUFFLE) {
    const some = jobs.slice(start, start + JOBS_PER_SHUFFLE).flatMap((job): Call[] => [
      { name: 'register', tries: 0, run: () => contender.register(job) },
      { name: 'receive', tries: 0, run: () => contender.receive(job) },
      { name: 'receive', tries: 0, run: () => contender.receive(job) },
      { name: 'advance', tries: 0, run: () => contender.advance(job, 'processing') },
      { name: 'advance', tries: 0, run: () => contender.advance(job, job.status) },
    ]);
    calls.push(...shuffle(some, random));
  }
  return calls;
}

/** Fisher and Yates: every order is equally likely. */
function shuffle<T>(items: T[], random: Random): T[] {
  const left = [...items];
  const shuffled: T[] = [];
  while (left.length > 0) shuffled.push(...left.splice(random.int(left.length), 1));
  return shuffled;
}
