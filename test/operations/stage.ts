import { startEmbeddedServer } from '../../sim/postgres/embedded-server.ts';
import { startFakeSume, type FakeSumeProcess } from './fake-sume-process.ts';
import { startService, type ServiceProcess } from './service-process.ts';

/** Three processes of the example's service on one PostgreSQL server, and a fake Sume that they talk to. */
export interface Stage {
  databaseUrl: string;
  sume: FakeSumeProcess;
  services: readonly [ServiceProcess, ServiceProcess, ServiceProcess];
  /** How many submits one process has under way at most. */
  submitWorkers: number;
  /** Ends everything in order. Rejects if something did not end well; ends the rest all the same. */
  stop(): Promise<void>;
}

const SECRET = 'whsec_local';
const SUBMIT_WORKERS = 4;

/**
 * Starts it. Sume's time runs `timeScale` times as fast as the machine's, and the service is as much less patient
 * than in production.
 */
export async function openStage(options: {
  seed: number;
  timeScale: number;
  /** Of the three processes; any free ones by default. */
  ports?: readonly [number, number, number];
}): Promise<Stage> {
  const { seed, timeScale, ports = [0, 0, 0] } = options;
  const running: (() => Promise<void>)[] = [];
  const stop = async (): Promise<void> => {
    // The services first: what they wait for is there until they are gone.
    const failures: unknown[] = [];
    for (const end of running.splice(0).toReversed()) {
      await end().catch((error: unknown) => failures.push(error));
    }
    if (failures.length > 0) throw new AggregateError(failures, failures.join('\n'));
  };
  try {
    const server = await startEmbeddedServer();
    running.push(server.stop);
    const sume = await startFakeSume({ secret: SECRET, faults: 'chaos', seed, timeScale });
    running.push(() => sume.stop());
    const env = {
      DATABASE_URL: server.url,
      SUME_BASE_URL: sume.baseUrl,
      SUME_API_KEY: 'sume_live_local',
      SUME_WEBHOOK_SECRET: SECRET,
      SUME_TIMEOUT_MS: '5000',
      // Ten attempts of a webhook take 270 s of Sume: at 60 times the speed, 4.5 s. What is open longer than
      // some of them is asked about, so that webhooks and sweeps race.
      STALE_AFTER_MS: '3000',
      RECHECK_MS: '2000',
      ORPHAN_AFTER_MS: '5000',
      SWEEP_EVERY_SECONDS: '2',
      SUBMIT_WORKERS: String(SUBMIT_WORKERS),
      SUBMIT_RETRY_SECONDS: '1',
    };
    const start = async (name: string, port: number): Promise<ServiceProcess> => {
      const service = await startService(name, port, env);
      running.push(() => service.stop());
      return service;
    };
    const starting = [
      start('one', ports[0]),
      start('two', ports[1]),
      start('three', ports[2]),
    ] as const;
    // Until each of them has come up or failed: one that comes up later than a failure would be left running.
    await Promise.allSettled(starting);
    const services = await Promise.all(starting);
    return { databaseUrl: server.url, sume, services, submitWorkers: SUBMIT_WORKERS, stop };
  } catch (error) {
    // What fails now fails because of what failed first.
    await stop().catch(() => undefined);
    throw error;
  }
}
