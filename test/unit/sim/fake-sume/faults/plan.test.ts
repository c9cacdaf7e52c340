import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createRandom } from '../../../../../sim/engine/random.ts';
import type { Delivery } from '../../../../../sim/fake-sume/index.ts';
import { createFaultPlan, type FaultPlan } from '../../../../../sim/fake-sume/faults/plan.ts';
import { faultPreset } from '../../../../../sim/fake-sume/faults/presets.ts';

const seeds = fc.integer({ min: 0, max: 2 ** 32 - 1 });
const chaos = (seed: number): FaultPlan =>
  createFaultPlan(faultPreset('chaos'), createRandom(seed));

const delivery = (jobId: string): Delivery => ({
  name: `webhook/${jobId}`,
  kind: 'event',
  genuine: true,
  jobId,
  event: 'job.completed',
  eventId: `evt_${jobId}`,
  url: 'http://localhost',
  body: '',
  state: 'pending',
  attempts: [],
  error: null,
});

/** A question to a plan, and its answer. */
const questions: readonly ((plan: FaultPlan, jobId: string) => unknown)[] = [
  (plan, jobId) => plan.answer('status', jobId),
  (plan, jobId) => plan.answer('submit', jobId),
  (plan, jobId) => plan.attempt(delivery(jobId), 1),
  (plan, jobId) => plan.attempt(delivery(jobId), 2),
  (plan, jobId) => plan.job(jobId),
  (plan, jobId) => plan.mischief(jobId),
];
const asked = fc.array(
  fc.record({ question: fc.nat(questions.length - 1), jobId: fc.constantFrom('a', 'b', 'c') }),
  { maxLength: 30 },
);

describe('a fault plan', () => {
  it('decides the same for the same seed and the same questions about a job, whatever lies between', () => {
    fc.assert(
      fc.property(seeds, asked, fc.constantFrom('a', 'b', 'c'), (seed, list, jobId) => {
        const ask = (only: typeof list): unknown[] => {
          const plan = chaos(seed);
          return only.map((one) => ({ ...one, fate: questions[one.question]?.(plan, one.jobId) }));
        };
        const aboutJob = (one: { jobId: string }): boolean => one.jobId === jobId;
        const among = (ask(list) as { jobId: string }[]).filter(aboutJob);
        expect(among).toEqual(ask(list.filter(aboutJob)));
      }),
    );
  });

  it('does not let one kind of fault shift another', () => {
    fc.assert(
      fc.property(seeds, (seed) => {
        const { deliveries, events, jobs } = faultPreset('chaos');
        const less = createFaultPlan(
          {
            deliveries: { delayMs: [0, 2_000] },
            events: { stale: 0.1 },
            jobs: { runMs: [0, 5_000] },
          },
          createRandom(seed),
        );
        const more = createFaultPlan(
          { deliveries: { ...deliveries, reorder: 0 }, events: events ?? {}, jobs: jobs ?? {} },
          createRandom(seed),
        );
        expect(more.attempt(delivery('a'), 1).delayMs).toBe(less.attempt(delivery('a'), 1).delayMs);
        expect(more.job('a').runMs).toBe(less.job('a').runMs);
        const stale = (plan: FaultPlan): unknown =>
          plan.mischief('a').find(({ kind }) => kind === 'stale');
        expect(stale(more)).toEqual(stale(less));
      }),
    );
  });

  it('brings every fault of chaos about as often as it says', () => {
    const seen = new Map<string, number>();
    const count = (name: string | null | undefined): void => {
      if (name) seen.set(name, (seen.get(name) ?? 0) + 1);
    };
    const plan = chaos(1);
    const jobs = 3_000;
    for (let number = 0; number < jobs; number += 1) {
      const jobId = `job_${number}`;
      count(plan.answer('status', jobId).instead?.kind);
      count(plan.attempt(delivery(jobId), 1).loss);
      if (plan.attempt(delivery(jobId), 1).delayMs > 2_000) count('reorder');
      const fate = plan.job(jobId);
      count(fate.end);
      if (fate.early) count('early');
      for (const { kind } of plan.mischief(jobId)) count(kind);
    }
    const shares = Object.fromEntries(
      [...seen].map(([name, times]) => [name, times / jobs] as const),
    );
    const expected: Record<string, number> = {
      'rate-limited': 0.05,
      'server-error': 0.05,
      html: 0.03,
      empty: 0.03,
      'request-lost': 0.05,
      'answer-lost': 0.05,
      'no-answer': 0.01,
      'delivery-lost': 0.2,
      'acknowledgement-lost': 0.2,
      reorder: 0.2,
      completed: 0.8,
      failed: 0.1,
      canceled: 0.05,
      expired: 0.05,
      early: 0.2,
      duplicate: 0.3,
      contradict: 0.1,
      unknown: 0.1,
      forge: 0.2,
      tamper: 0.1,
      stale: 0.1,
    };
    expect(Object.keys(shares).sort()).toEqual(Object.keys(expected).sort());
    for (const [name, share] of Object.entries(expected)) {
      expect(Math.abs((shares[name] ?? 0) - share), name).toBeLessThan(0.03);
    }
  });

  it('lets every answer pass of a route that no answer fault is for', () => {
    fc.assert(
      fc.property(seeds, (seed) => {
        const onlyStatus = createFaultPlan(
          { answers: { status: { serverError: 1 } } },
          createRandom(seed),
        );
        const everywhere = createFaultPlan(
          { answers: { '*': { serverError: 1 } } },
          createRandom(seed),
        );
        expect(onlyStatus.answer('me', 'a')).toEqual({ delayMs: 0, instead: null });
        expect(onlyStatus.answer('status', 'a').instead?.kind).toBe('server-error');
        expect(everywhere.answer('me', 'a').instead?.kind).toBe('server-error');
      }),
    );
  });

  it('without a profile lets everything pass and completes jobs in their standard time', () => {
    const plan = createFaultPlan({}, createRandom(3));
    expect(plan.answer('status', 'a')).toEqual({ delayMs: 0, instead: null });
    expect(plan.attempt(delivery('a'), 1)).toEqual({ delayMs: 0, loss: null });
    expect(plan.mischief('a')).toEqual([]);
    expect(plan.job('a')).toEqual({ startMs: 250, runMs: 1_000, end: 'completed', early: false });
  });

  it('meets a repeated request anew, and begins again when cleared', () => {
    const plan = chaos(2);
    const ask = (): string[] =>
      Array.from({ length: 60 }, () => plan.answer('status', 'a').instead?.kind ?? 'as usual');
    const first = ask();
    expect(new Set(first).size).toBeGreaterThan(3);
    expect(ask()).not.toEqual(first);
    plan.clear();
    expect(ask()).toEqual(first);
  });
});
