import type { Delivery } from '../../sim/fake-sume/delivery.ts';
import type { RequestRecord } from '../../sim/fake-sume/request-log.ts';
import type { JobTruth } from '../../sim/fake-sume/truth.ts';
import { startChild } from '../setup/child.ts';

/** `sume-sim serve` as a process, and what of its control API is used here. */
export interface FakeSumeProcess {
  baseUrl: string;
  controlUrl: string;
  truth(): Promise<JobTruth[]>;
  deliveries(): Promise<Delivery[]>;
  requests(): Promise<RequestRecord[]>;
  /** Makes a job that nobody here has asked for. It stays as it is until it is ended. */
  create(webhookUrl?: string): Promise<string>;
  complete(jobId: string): Promise<void>;
  /** Keeps back every answer to a submit, after the job was made. */
  holdSubmits(): Promise<{
    /** The jobs whose answers are kept back, to clients that still wait for them. */
    held: () => Promise<string[]>;
    release: () => Promise<void>;
  }>;
  /** Resolves when nothing is pending. Rejects with what is, if that takes longer. */
  settle(timeoutMs: number): Promise<void>;
  stop(): Promise<void>;
}

const FILE = 'sim/cli/main.ts';

export async function startFakeSume(options: {
  secret: string;
  faults: string;
  seed: number;
  timeScale: number;
}): Promise<FakeSumeProcess> {
  const child = await startChild(
    FILE,
    [
      'serve',
      '--json',
      '--quiet',
      '--port=0',
      `--webhook-secret=${options.secret}`,
      `--faults=${options.faults}`,
      `--seed=${options.seed}`,
      `--time-scale=${options.timeScale}`,
    ],
    {},
  );
  const { baseUrl, controlUrl } = child.first as { baseUrl: string; controlUrl: string };

  const call = async <Answer>(method: string, path: string, body?: object): Promise<Answer> => {
    const response = await fetch(`${controlUrl}${path}`, {
      method,
      ...(body === undefined
        ? {}
        : { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path} was answered ${response.status}: ${text}`);
    return JSON.parse(text) as Answer;
  };

  return {
    baseUrl,
    controlUrl,
    truth: async () => (await call<{ jobs: JobTruth[] }>('GET', '/jobs')).jobs,
    deliveries: async () =>
      (await call<{ deliveries: Delivery[] }>('GET', '/deliveries')).deliveries,
    requests: async () => (await call<{ requests: RequestRecord[] }>('GET', '/requests')).requests,
    create: async (webhookUrl) => {
      const asked = webhookUrl === undefined ? {} : { webhookUrl };
      return (await call<{ jobId: string }>('POST', '/jobs', asked)).jobId;
    },
    complete: async (jobId) => {
      await call('POST', `/jobs/${jobId}/complete`);
    },
    holdSubmits: async () => {
      const { holdId } = await call<{ holdId: string }>('POST', '/holds/answers', {
        route: 'submit',
      });
      return {
        held: async () => {
          const { holds } = await call<{
            holds: { holdId: string; held: { jobId: string | null }[] }[];
          }>('GET', '/holds');
          const ours = holds.find((hold) => hold.holdId === holdId);
          return (ours?.held ?? []).flatMap(({ jobId }) => (jobId === null ? [] : [jobId]));
        },
        release: async () => {
          await call('POST', `/holds/${holdId}/release`);
        },
      };
    },
    settle: async (timeoutMs) => {
      await call('POST', '/settle', { timeoutMs });
    },
    stop: async () => {
      const code = await child.end('SIGTERM');
      if (code !== 0) throw new Error(`The fake Sume ended with ${code}: ${child.errors()}`);
    },
  };
}
