import PgBoss from 'pg-boss';
import type { Clock, SweepOptions } from '../../../src/index.ts';
import { SUBMIT_QUEUE, type SubmitWork } from './orders.ts';
import type { Settings } from './settings.ts';

const SWEEP_QUEUE = 'sweep';

/** How often a worker looks for work, and the queue for work whose worker is gone. */
const POLLING_SECONDS = 0.5;
const MAINTENANCE_SECONDS = 2;

/** Failed submits are tried for as long as anybody could care; the age of the oldest order is alerted on. */
const SUBMIT_TRIES = 100_000;

/** The most that one submit waits for Sume: the request itself, and the pause that Sume may ask for. */
function longestSubmitMs({ sume }: Settings): number {
  return 2 * sume.timeoutMs;
}

/** Opens the queue, and creates what it needs in the schema `pgboss`. */
export async function openQueue(
  settings: Settings,
  onError: (error: unknown) => void,
): Promise<PgBoss> {
  const boss = new PgBoss({
    // Connections of its own: it may still use them while it stops, when the service's are gone.
    connectionString: settings.databaseUrl,
    // A worker that was killed leaves its work marked as under way. It is found out here, and goes to another.
    maintenanceIntervalSeconds: MAINTENANCE_SECONDS,
    schedule: false,
  });
  boss.on('error', onError);
  await boss.start();
  const queues: PgBoss.Queue[] = [
    {
      name: SUBMIT_QUEUE,
      retryLimit: SUBMIT_TRIES,
      retryDelay: settings.submit.retrySeconds,
      // Later than any worker that lives, with room for its own statements.
      expireInSeconds: Math.ceil(longestSubmitMs(settings) / 1000) + 5,
    },
    // The next sweep does what this one did not.
    { name: SWEEP_QUEUE, retryLimit: 0, expireInSeconds: 600 },
  ];
  for (const queue of queues) {
    await boss.createQueue(queue.name, queue);
    await boss.updateQueue(queue.name, queue);
  }
  return boss;
}

export interface Work {
  submitOrder: (orderId: string) => Promise<void>;
  sweep: (options: Pick<SweepOptions, 'signal'>) => Promise<void>;
  /** Told of every submit that was tried before. */
  onRetry: () => void;
}

/**
 * Does the work of the queues until the signal aborts. Every process offers a sweep in every period, and the queue
 * takes one for all of them, so the sweeps go on as long as one process lives.
 */
export async function startWorkers(
  boss: PgBoss,
  work: Work,
  options: {
    settings: Settings;
    clock: Clock;
    signal: AbortSignal;
    onError: (error: unknown) => void;
  },
): Promise<void> {
  const { settings, clock, signal, onError } = options;
  const polling = { pollingIntervalSeconds: POLLING_SECONDS };
  for (let worker = 0; worker < settings.submit.workers; worker += 1) {
    await boss.work<SubmitWork>(
      SUBMIT_QUEUE,
      { ...polling, includeMetadata: true },
      async (jobs) => {
        // What was being fetched while the queue stopped is left: it goes to another process, as if killed here.
        signal.throwIfAborted();
        for (const { data, retryCount } of jobs) {
          if (retryCount > 0) work.onRetry();
          await work.submitOrder(data.orderId);
        }
      },
    );
  }
  await boss.work(SWEEP_QUEUE, polling, async () => {
    signal.throwIfAborted();
    await work.sweep({ signal });
  });

  const offerSweeps = async (): Promise<void> => {
    while (!signal.aborted) {
      await boss.sendThrottled(SWEEP_QUEUE, {}, {}, settings.sweepEverySeconds).catch(onError);
      await clock.sleep(settings.sweepEverySeconds * 1000, signal).catch(() => undefined);
    }
  };
  void offerSweeps();
}
