import { fork } from 'node:child_process';
import { hasEndlessLoop } from '../world/loop-watch.ts';
import { isNondeterministic, NondeterminismError } from '../world/nondeterminism-error.ts';
import type { Run } from '../world/run.ts';
import type { Simulator } from '../world/simulator.ts';
import { onInterruption } from './interruption.ts';
import { MOST_SHARDS, split, type Shard } from './shard.ts';
import { UsageError } from './usage-error.ts';

/** What a worker tells while it runs: how many schedules it has done. */
interface ToParent {
  done: number;
}

/** What a worker is told: pieces of the search from this one on are not needed any more. */
interface ToWorker {
  stopBefore: number;
}

/**
 * A worker's run as this process has it, from its token. What the worker could not have again is shown as it came.
 *
 * @throws {NondeterminismError} if it does not end as the worker saw it end.
 */
export async function runAgain(simulator: Simulator, there: Run): Promise<Run> {
  if (isNondeterministic(there) || hasEndlessLoop(there)) return there;
  const here = await simulator.replay(there.token);
  if (here.verdict === there.verdict) return here;
  throw new NondeterminismError(
    `A process that shares the search saw ${there.verdict}, and the same schedule, run again here, gives ` +
      `${here.verdict}.`,
  );
}

/** Tells a process that its parent is one of ours: a test runner's processes have a parent that listens too. */
const WORKER = 'SUME_SIM_WORKER';

/** A worker ended without the one JSON object that it was asked for. */
export class WorkerError extends Error {
  override readonly name = 'WorkerError';
  readonly code = 'worker_failed';
}

/**
 * Runs this command once for each job, as a process of its own with a share of the shard, and gives the JSON
 * objects that they print, in the order of their shares. Ctrl-C, and a SIGTERM to this process, ends all of them
 * in the orderly way that each has.
 *
 * @param args the command line without what says how to share and how to print.
 * @param foundAt the piece at which an answer violated something, or null: others stop before it, so that the
 * first one found is the same however fast each of them is.
 */
export async function runWorkers<Answer>(options: {
  args: readonly string[];
  jobs: number;
  shard: Shard;
  onProgress: (done: number) => void;
  foundAt: (answer: Answer) => number | null;
}): Promise<{ answers: Answer[]; interrupted: boolean }> {
  const { args, jobs, shard, onProgress, foundAt } = options;
  if (shard.of * jobs > MOST_SHARDS) {
    throw new UsageError(
      `--shard ${shard.index}/${shard.of} with --jobs ${jobs} makes more than ${MOST_SHARDS} parts; take fewer`,
    );
  }
  const interruption = onInterruption();
  const done = new Map<number, number>();
  const shares = split(shard, jobs);
  const workers = shares.map(({ index, of }) =>
    fork(process.argv[1] ?? '', [...args, '--shard', `${index}/${of}`, '--json'], {
      env: { ...process.env, [WORKER]: '1' },
      execArgv: process.execArgv,
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    }),
  );
  const forward = (signal: NodeJS.Signals): void => {
    for (const worker of workers) worker.kill(signal);
  };
  process.on('SIGINT', forward);
  process.on('SIGTERM', forward);
  try {
    const answers = await Promise.all(
      workers.map(async (worker, number) => {
        worker.on('message', (message: ToParent) => {
          done.set(number, message.done);
          onProgress([...done.values()].reduce((sum, count) => sum + count, 0));
        });
        const answer = await answerOf<Answer>(worker);
        const stopBefore = foundAt(answer);
        if (stopBefore !== null) {
          for (const other of workers) {
            if (other.connected) other.send({ stopBefore } satisfies ToWorker);
          }
        }
        return answer;
      }),
    );
    return { answers, interrupted: interruption.happened };
  } finally {
    forward('SIGTERM');
    process.off('SIGINT', forward);
    process.off('SIGTERM', forward);
    interruption.release();
  }
}

async function answerOf<Answer>(worker: ReturnType<typeof fork>): Promise<Answer> {
  const [stdout, stderr] = [worker.stdout, worker.stderr].map((stream) => {
    const pieces: Buffer[] = [];
    stream?.on('data', (piece: Buffer) => pieces.push(piece));
    return pieces;
  });
  const how = await new Promise<string>((resolve, reject) => {
    worker.on('error', reject);
    worker.on('close', (code, signal) => resolve(signal ?? `exit code ${code}`));
  });
  const text = Buffer.concat(stdout ?? []).toString();
  try {
    const answer = JSON.parse(text) as { token?: string; error?: { message: string } };
    if (answer.token === undefined)
      throw new WorkerError(answer.error?.message ?? 'a process that shares the search failed');
    return answer as Answer;
  } catch (cause) {
    if (cause instanceof WorkerError) throw cause;
    const said = Buffer.concat(stderr ?? [])
      .toString()
      .trim();
    throw new WorkerError(
      `one of the processes that share the search ended without an answer (${how})` +
        `${said === '' ? '' : `: ${said}`}; run it without --jobs to see more`,
      { cause },
    );
  }
}

/** The other side: what a process does that may be a worker. Does nothing in any other process. */
export function asWorker(): {
  tell: (done: number) => void;
  /** Whether this piece of the search is still needed. */
  isNeeded: (piece: number) => boolean;
  /** Lets the process end. */
  release: () => void;
} {
  if (process.env[WORKER] !== '1') {
    return { tell: () => {}, isNeeded: () => true, release: () => {} };
  }
  let stopBefore = Infinity;
  const listen = (message: ToWorker): void => {
    stopBefore = Math.min(stopBefore, message.stopBefore);
  };
  process.on('message', listen);
  // Ctrl-C reaches the whole group, and the parent hands it on besides: the second is not meant.
  process.on('SIGINT', () => {});
  // Without its parent nobody reads what it finds.
  const orphaned = (): void => {
    process.kill(process.pid, 'SIGTERM');
  };
  process.once('disconnect', orphaned);
  return {
    tell: (done) => {
      if (process.connected) process.send?.({ done } satisfies ToParent);
    },
    isNeeded: (piece) => piece < stopBefore,
    release: () => {
      process.off('message', listen);
      process.off('disconnect', orphaned);
      if (process.connected) process.disconnect();
    },
  };
}

/** A command line without what says how to share the search and how to print. */
export function withoutSharing(args: readonly string[]): string[] {
  const valued = ['--jobs', '--shard'];
  const flags = ['--json', '--mermaid', '--full'];
  return args.filter((arg, index) => {
    const before = args[index - 1] ?? '';
    return (
      !flags.includes(arg) &&
      !valued.includes(arg) &&
      !valued.some((option) => arg.startsWith(`${option}=`)) &&
      !valued.includes(before)
    );
  });
}
