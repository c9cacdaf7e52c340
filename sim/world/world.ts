import type { Effect } from '../engine/call.ts';
import type { Engine } from '../engine/engine.ts';
import type { Task } from '../engine/task.ts';
import { createFakeSume, type FakeSume } from '../fake-sume/index.ts';
import { createClock } from './clocks.ts';
import { createDeliveryRoad } from './deliveries.ts';
import type { Evidence } from './evidence.ts';
import type { FaultName } from './faults.ts';
import type { Handlers, Integration, Order, Patience, SumeAccount } from './integration.ts';
import { createProcesses, type ProcessName, type RunningProcess } from './processes.ts';
import type { OrderPlan, Scenario } from './scenarios.ts';
import type { OpenStage } from './stage.ts';
import { createSumeFetch } from './sume-port.ts';

/** Sume's time limit for one webhook attempt. Its other sleeps are the spaces between attempts. */
const ATTEMPT_LIMIT_MS = 10_000;

const ACCOUNT: SumeAccount = {
  baseUrl: 'https://api.sume.com/v1',
  apiKey: 'sume_live_simulated',
  secrets: ['whsec_simulated'],
  webhookUrl: 'https://integration.example/webhooks/sume',
};

/** Short beside every time-out, so that a sweep can meet what is still in flight. */
export const PATIENCE: Patience = { staleAfterMs: 5_000, recheckMs: 5_000, orphanAfterMs: 5_000 };

/** How far a clock jumps, either way, when the adversary makes it: beyond the tolerance of a webhook. */
export const MAX_SKEW_MS = 400_000;

/** One submit of the scenario, and how far it has come. */
export interface Submit {
  readonly plan: OrderPlan;
  task: Task | null;
  returned: boolean;
}

/** Everybody who takes part in one schedule. */
export interface World {
  readonly sume: FakeSume;
  readonly submits: readonly Submit[];
  /** Calls `submit` for an order, or calls it again. */
  submit(submit: Submit): void;
  /** Starts a sweep that first waits so long. */
  sweep(name: string, afterMs: number): void;
}

export function createWorld(parts: {
  engine: Engine;
  scenario: Scenario;
  integration: Integration;
  stage: OpenStage;
  /** What takes no part: see `Recipe`. */
  without: ReadonlySet<string>;
  evidence: Evidence;
  /** Gets the `fetch` that speaks to this Sume. */
  onFetch: (sumeFetch: typeof fetch) => void;
}): World {
  const { engine, scenario, integration, stage, without, evidence } = parts;
  const submits: Submit[] = scenario.orders
    .filter(({ key }) => !without.has(`submit/${key}`))
    .map((plan) => ({ plan, task: null, returned: false }));

  const processes = createProcesses();
  const road = createDeliveryRoad(
    engine,
    processes.web,
    evidence,
    (name) => sume.deliveries.find((delivery) => delivery.name === name)?.body ?? '',
  );
  const sumeClock = createClock(
    engine,
    () => 0,
    (ms) => ms === ATTEMPT_LIMIT_MS,
  );
  const sume = createFakeSume({
    clock: sumeClock,
    baseUrl: ACCOUNT.baseUrl,
    apiKeys: [ACCOUNT.apiKey],
    secrets: ACCOUNT.secrets,
    jobId: (key) => `job_${key}`,
    send: (request, attempt) => road.send(request, attempt),
    spawn: (name, task) => {
      const jobId = name.split('/')[1] ?? '';
      if (planOf(jobId).webhookLost === true && !name.includes('/', 'webhook/'.length)) return;
      const disguised = /\/(forged|tampered|stale)-/.test(name);
      engine.spawn({ name, actor: disguised ? 'adversary' : 'Sume' }, task);
    },
  });

  const submitOf = (task: Task): Submit | undefined =>
    submits.find((submit) => submit.task === task);

  function planOf(jobId: string): OrderPlan {
    const key = evidence.issued.get(jobId);
    // A job that no plan foresaw (a second one for the same submit) completes.
    return scenario.orders.find((plan) => plan.key === key) ?? { key: jobId, end: 'completed' };
  }

  const sumeFetch = createSumeFetch({
    engine,
    handlers: sume.handlers,
    evidence,
    onSubmitted: (task, jobId) => {
      engine.touch(`sume:${jobId}`, 'write');
      if (evidence.issued.has(jobId)) return;
      evidence.issued.set(jobId, submitOf(task)?.plan.key ?? task.name);
      beginJob(jobId);
    },
    onAnswered: (_task, jobId) => startPolls(jobId),
    beforeAnswer: async (task) => {
      if (submitOf(task)?.plan.abandoned !== true) return;
      await engine.step({
        name: 'dies',
        kind: 'crash',
        perform: () => {
          // Its own machine: the other submits have theirs.
          engine.end(task);
          return {
            text: 'the submit worker dies before it reads the answer, for good',
            value: null,
          };
        },
      });
    },
  });
  parts.onFetch(sumeFetch);

  function startProcess(process: RunningProcess): void {
    process.handlers = integration.start({
      fetch: sumeFetch,
      database: stage.port,
      ...(stage.pool === undefined ? {} : { pool: stage.pool }),
      replica: stage.replica,
      clock: createClock(
        engine,
        () => {
          engine.touch(`clock:${process.name}`, 'read');
          return process.skewMs;
        },
        (_ms, signal) => signal !== undefined,
      ),
      elsewhere: (work) => engine.quiet.track(work),
      sume: ACCOUNT,
      patience: PATIENCE,
    });
  }

  /** What Sume does with a job, and what else its plan holds. */
  function beginJob(jobId: string): void {
    const plan = planOf(jobId);
    const { control } = sume;
    const happens = (name: string, perform: () => Promise<string>): Promise<null> =>
      engine.step<null>({
        name,
        kind: 'event',
        perform: async () => {
          engine.touch(`sume:${jobId}`, 'write');
          if (name !== STARTS) engine.touch(`events:${jobId}`, 'write');
          return { text: `${jobId} ${await perform()}`, value: null };
        },
      });
    const moved = (change: 'changed' | 'unchanged', words: string): string =>
      change === 'changed' ? words : `had ended before: nothing changes`;

    const sumeDoes = (what: string): boolean => !without.has(`sume/${jobId} ${what}`);
    engine.spawn({ name: `sume/${jobId}`, actor: 'Sume' }, async () => {
      if (sumeDoes(STARTS)) {
        await happens(STARTS, async () => moved(await control.start(jobId), 'is processing'));
      }
      if (plan.announces !== undefined && sumeDoes('announces')) {
        const event = plan.announces;
        await happens('announces', async () => {
          await control.announce(jobId, event);
          return `sends an event ${event}`;
        });
      }
      if (plan.takesMs !== undefined) await sumeClock.sleep(plan.takesMs);
      await happens(VERB[plan.end], async () => {
        const change = await END[plan.end](sume, jobId);
        const lost = plan.webhookLost === true && change === 'changed';
        return moved(change, lost ? `is ${plan.end}, and its webhook is lost` : `is ${plan.end}`);
      });
      if (plan.contradiction !== undefined && sumeDoes('contradicts'))
        await contradict(jobId, plan.contradiction, happens);
    });
    if (plan.canceledByUser === true && !without.has(`user/${jobId}`)) {
      engine.spawn({ name: `user/${jobId}`, actor: 'Sume' }, async () => {
        await happens('cancels', async () =>
          moved(await control.cancel(jobId), 'is canceled by its user'),
        );
      });
    }
    if (plan.attacked === true) {
      engine.spawn({ name: `attack/${jobId}`, actor: 'adversary' }, async () => {
        for (const disguise of ['forged', 'tampered', 'out-of-tolerance'] as const) {
          if (without.has(`attack/${jobId} ${disguise}`)) continue;
          await engine.step({
            name: disguise,
            kind: 'event',
            perform: () => attack(jobId, disguise),
          });
        }
      });
    }
    offerJobFaults(jobId);
  }

  async function contradict(
    jobId: string,
    status: 'completed' | 'failed' | 'canceled',
    happens: (name: string, perform: () => Promise<string>) => Promise<null>,
  ): Promise<void> {
    await happens('contradicts', async () => {
      // It may have ended otherwise than planned; then the other end is the contradiction.
      const other = sume.control.truth().get(jobId)?.status === status ? 'completed' : status;
      evidence.contradicted.add(jobId);
      await sume.control.contradict(jobId, other);
      return `is now said to be ${other}`;
    });
  }

  async function attack(
    jobId: string,
    disguise: 'forged' | 'tampered' | 'out-of-tolerance',
  ): Promise<Effect<null>> {
    // Sume knows nothing of it, so it changes nothing that Sume would tell. It says what Sume's own events say
    // so far, and is numbered among the other attacks.
    engine.touch(`events:${jobId}`, 'read');
    engine.touch(`attacks:${jobId}`, 'write');
    if (disguise === 'forged')
      await sume.control.forge(jobId, 'job.failed', { url: ACCOUNT.webhookUrl });
    if (disguise === 'tampered') await sume.control.tamper(jobId, { url: ACCOUNT.webhookUrl });
    if (disguise === 'out-of-tolerance') {
      await sume.control.stale(jobId, { url: ACCOUNT.webhookUrl, offsetMs: -2 * MAX_SKEW_MS });
    }
    return { text: `posts a webhook for ${jobId} that is ${disguise}`, value: null };
  }

  function offerJobFaults(jobId: string): void {
    const adversary = engine.spawn(
      { name: `adversary/${jobId}`, actor: 'adversary' },
      async () => {},
    );
    for (const fault of ['forged', 'tampered', 'out-of-tolerance'] as const) {
      engine.offer(adversary, {
        name: fault,
        fault,
        kind: 'event',
        perform: () => attack(jobId, fault),
      });
    }
    engine.offer(adversary, {
      name: 'contradicts',
      fault: 'contradiction' satisfies FaultName,
      kind: 'event',
      enabled: () => {
        if (evidence.contradicted.has(jobId)) return false;
        return sume.control.truth().get(jobId)?.status === 'completed';
      },
      perform: async () => {
        engine.touch(`sume:${jobId}`, 'write');
        engine.touch(`events:${jobId}`, 'write');
        evidence.contradicted.add(jobId);
        await sume.control.contradict(jobId, 'failed');
        return { text: `${jobId} is now said to be failed`, value: null };
      },
    });
  }

  function offerProcessFaults(process: RunningProcess): void {
    const task = engine.spawn(
      { name: `${process.name} process`, actor: process.name },
      async () => {},
    );
    engine.offer(task, {
      name: 'crashes',
      fault: 'crash' satisfies FaultName,
      kind: 'crash',
      enabled: () => engine.tasks.some((one) => one.process === process && one.state === 'running'),
      perform: async () => {
        await crash(process);
        return { text: `${process.name} crashes and starts again`, value: null };
      },
    });
    for (const skewMs of [MAX_SKEW_MS, -MAX_SKEW_MS]) {
      const jump = `${skewMs > 0 ? '+' : '−'}${Math.abs(skewMs) / 1000} s`;
      engine.offer(task, {
        name: `clock jumps ${jump}`,
        fault: 'clock-skew' satisfies FaultName,
        kind: 'event',
        enabled: () => process.skewMs === 0,
        perform: () => {
          engine.touch(`clock:${process.name}`, 'write');
          process.skewMs = skewMs;
          return { text: `the clock of ${process.name} jumps by ${jump}`, value: null };
        },
      });
    }
  }

  async function crash(process: RunningProcess): Promise<void> {
    await stage.rollbackOf(process);
    engine.crash(process);
    if (process === processes.web) road.reset();
    startProcess(process);
    // A worker that starts again takes up what it had not finished.
    for (const submit of submits) {
      if (
        submit.task?.process === process &&
        submit.task.state === 'crashed' &&
        submit.plan.abandoned !== true
      ) {
        world.submit(submit);
      }
    }
  }

  const polled = new Set<string>();
  function startPolls(jobId: string): void {
    // A submit that is called again gets the same job, which is polled already.
    if (polled.has(jobId)) return;
    polled.add(jobId);
    for (let number = 1; number <= scenario.polls; number += 1) {
      const name = `poll/${jobId}/${number}`;
      if (!without.has(name)) run(processes.poller, name, (handlers) => handlers.poll(jobId));
    }
  }

  function run(
    process: RunningProcess,
    name: string,
    body: (handlers: Handlers) => Promise<unknown>,
  ): Task {
    return engine.spawn({ name, actor: process.name, process }, () => body(process.handlers));
  }

  const world: World = {
    sume,
    submits,
    submit: (submit) => {
      const { key } = submit.plan;
      const order: Order = {
        key,
        model: 'sume/avatar-video/v1.0',
        input: { script: `Order ${key}` },
      };
      submit.task = run(processes.submit, `submit/${key}`, async (handlers) => {
        await handlers.submit(order);
        submit.returned = true;
      });
    },
    sweep: (name, afterMs) => {
      const clock = createClock(
        engine,
        () => 0,
        () => false,
      );
      run(processes.sweeper, name, async (handlers) => {
        await clock.sleep(afterMs);
        await handlers.sweep();
      });
    },
  };

  for (const name of Object.keys(processes) as ProcessName[]) {
    startProcess(processes[name]);
    offerProcessFaults(processes[name]);
  }
  for (const submit of submits) world.submit(submit);
  for (let number = 1; number <= scenario.sweeps; number += 1) {
    const name = `sweep/${number}`;
    if (!without.has(name)) world.sweep(name, PATIENCE.staleAfterMs + 1);
  }
  return world;
}

/** The one thing that Sume does with a job and sends no event of. */
const STARTS = 'starts';

const VERB = {
  completed: 'completes',
  failed: 'fails',
  canceled: 'is canceled',
  expired: 'expires',
} as const;

const END: Readonly<
  Record<OrderPlan['end'], (sume: FakeSume, jobId: string) => Promise<'changed' | 'unchanged'>>
> = {
  completed: ({ control }, jobId) => control.complete(jobId),
  failed: ({ control }, jobId) => control.fail(jobId),
  canceled: ({ control }, jobId) => control.cancel(jobId),
  expired: ({ control }, jobId) => control.expire(jobId),
};
