import type { Clock } from '../../src/clock.ts';
import type { Control } from './control.ts';
import type { Courier } from './courier.ts';
import type { FaultPlan, Mischief } from './faults/plan.ts';
import type { Delivery } from './delivery.ts';
import type { Job } from './job.ts';
import type { PendingWork } from './pending.ts';
import type { Tasks } from './tasks.ts';

/** Lives the lives of jobs, and does the mischief of a fault plan. */
export interface Autopilot {
  /**
   * A job was submitted: starts its life.
   *
   * @returns for a job whose webhook is to arrive before its 202, resolves once that has happened.
   */
  onSubmitted(job: Job): Promise<void>;
  /** The event of a job that ended, by whatever hand, is pushed: starts the mischief about it. */
  onPushed(job: Job, delivery: Delivery): void;
}

export function createAutopilot(options: {
  clock: Clock;
  tasks: Tasks;
  plan: FaultPlan;
  control: Control;
  courier: Courier;
}): Autopilot {
  const { clock, tasks, plan, control, courier } = options;
  const pushed = new WeakMap<Job, Delivery>();

  const sleep = async (ms: number, work: PendingWork, signal: AbortSignal): Promise<void> => {
    work.now({ for: 'clock', untilMs: clock.now() + ms });
    await clock.sleep(ms, signal);
    work.now({ for: 'itself' });
  };

  const end = (job: Job): Promise<unknown> => {
    const verbs = { completed: 'complete', failed: 'fail', canceled: 'cancel', expired: 'expire' };
    const verb = verbs[plan.job(job.id).end] as 'complete' | 'fail' | 'cancel' | 'expire';
    return control[verb](job.id);
  };

  const doMischief = (job: Job, { kind }: Mischief): Promise<unknown> => {
    const { id } = job;
    const event = `job.${job.status}`;
    switch (kind) {
      case 'duplicate':
        return control.deliver(id, { event });
      case 'contradict':
        return control.contradict(id, job.status === 'failed' ? 'completed' : 'failed');
      case 'unknown':
        return control.announce(id, 'job.archived');
      case 'forge':
        return control.forge(id, job.status === 'completed' ? 'job.failed' : 'job.completed');
      case 'tamper':
        return control.tamper(id, { event });
      default:
        return control.stale(id, { event });
    }
  };

  return {
    async onSubmitted(job) {
      const fate = plan.job(job.id);
      if (fate.early && job.webhookUrl !== null && fate.end !== 'expired') {
        await end(job);
        const delivery = pushed.get(job);
        if (delivery !== undefined) await courier.attemptEnded(delivery);
        return;
      }
      tasks.start(`job/${job.id}`, job.id, async (work, signal) => {
        await sleep(fate.startMs, work, signal);
        await control.start(job.id);
        await sleep(fate.runMs, work, signal);
        await end(job);
      });
    },

    onPushed(job, delivery) {
      pushed.set(job, delivery);
      for (const mischief of plan.mischief(job.id)) {
        tasks.start(`mischief/${job.id}/${mischief.kind}`, job.id, async (work, signal) => {
          await sleep(mischief.delayMs, work, signal);
          await doMischief(job, mischief);
        });
      }
    },
  };
}
