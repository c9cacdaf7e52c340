import { readFile } from 'node:fs/promises';
import { Pool } from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Attempt, Delivery } from '../../sim/fake-sume/delivery.ts';
import { flawless } from '../postgres/audit.ts';
import { busyMinute, ORDERS, type Evidence } from './busy-minute.ts';
import type { ServiceProcess } from './service-process.ts';
import { openStage, type Stage } from './stage.ts';

const SEED = 7;
const TERMINAL = ['completed', 'failed', 'canceled', 'expired'];

let stage: Stage;
let admin: Pool;
let seen: Evidence;

beforeAll(async () => {
  stage = await openStage({ seed: SEED, timeScale: 60 });
  admin = new Pool({ connectionString: stage.databaseUrl, max: 2, application_name: 'judge' });
  seen = await busyMinute(stage, admin);
  console.log(`Seed ${SEED}. The service met: ${JSON.stringify(met(), null, 2)}`);
});

afterAll(async () => {
  await admin?.end();
  await stage?.stop();
});

describe('after a minute of chaos, with a process killed in the middle of it', () => {
  test('every order has one job at Sume, however often its submit was tried', () => {
    expect(seen.truth).toHaveLength(ORDERS);
    const jobOf = new Map(seen.truth.map((job) => [job.idempotencyKey, job.jobId]));
    for (const [orderId, order] of seen.orders) {
      expect({ orderId, ...order }).toMatchObject({ jobId: jobOf.get(orderId), refusal: null });
      expect(seen.rows.get(order.jobId ?? '')).toMatchObject({ correlationId: orderId });
    }
    expect(jobOf.size).toBe(ORDERS);
  });

  test('what was under way when the process was killed is taken up by another', () => {
    expect(seen.heldJobs.length).toBeGreaterThan(2 * stage.submitWorkers);
    expect(seen.heldJobs.filter((jobId) => !seen.rows.has(jobId))).toEqual([]);
  });

  test('every job that Sume ended has that end in the database, and its result', () => {
    for (const { jobId, status, result } of seen.truth) {
      expect(TERMINAL, jobId).toContain(status);
      const expected = expectedEnd(jobId, status);
      expect(seen.rows.get(jobId), jobId).toMatchObject({ status: expected });
      if (expected === status) {
        expect(seen.rows.get(jobId)?.result, jobId).toEqual(result);
      }
    }
  });

  test('no row went backwards, and each end was recorded once', async () => {
    const ends = seen.truth.map(({ jobId, status }) => ({
      id: jobId,
      status: expectedEnd(jobId, status),
    }));
    // One row more than there are ends: the job that does not end.
    expect(await seen.judge(ends)).toEqual({ ...flawless(ORDERS), jobs: ORDERS + 1 });
    expect(seen.rows.get(seen.endlessJob)).toMatchObject({ status: 'queued' });
  });

  test('what a webhook was told is what the process had written', () => {
    for (const { delivery, attempt } of answered(({ genuine }) => genuine)) {
      const { status, body } = attempt.answer;
      if (delivery.kind === 'announcement') {
        expect(status, delivery.name).toBe(204);
        continue;
      }
      const { jobId, event } = delivery;
      const { outcome } = JSON.parse(body) as { outcome: string };
      const said = `${delivery.name}, attempt ${attempt.number}: ${status} ${outcome}`;
      const end = event.replace('job.', '');
      const writes = seen.written.filter((write) => write.jobId === jobId);
      const ended = writes.find(
        ({ relation, newStatus }) => relation === 'jobs' && TERMINAL.includes(newStatus ?? ''),
      );
      const byReceiver = ({ writer }: { writer: string }): boolean =>
        receiverOf(delivery).names.includes(writer);
      switch (outcome) {
        case 'applied':
          expect({ said, ...ended }).toMatchObject({ newStatus: end });
          expect(ended !== undefined && byReceiver(ended), said).toBe(true);
          break;
        case 'parked':
          expect(
            writes.some((write) => write.relation === 'parked' && byReceiver(write)),
            said,
          ).toBe(true);
          break;
        case 'duplicate':
          expect({ said, ...ended }).toMatchObject({ newStatus: end });
          break;
        default:
          expect(outcome, said).toBe('conflict');
          expect(TERMINAL.filter((status_) => status_ !== end)).toContain(ended?.newStatus);
      }
    }
  });

  test('what was not signed by Sume, or not lately, is refused', () => {
    const refused = answered(({ genuine }) => !genuine);
    expect(refused.filter(({ attempt }) => attempt.answer.status !== 401)).toEqual([]);
  });

  test('nothing is parked but the event of a job that nobody ordered', () => {
    expect(seen.parked.map(({ jobId }) => jobId)).toEqual([seen.foreignJob]);
  });

  test('it was a minute worth surviving', () => {
    for (const [what, times] of Object.entries(met())) expect(times, what).toBeGreaterThan(0);
  });
});

describe('what /metrics says', () => {
  test('agrees with the tables, in every process', () => {
    const [parked] = seen.parked;
    const since = parked?.receivedAt.getTime() ?? NaN;
    for (const { page, fromMs, toMs } of seen.pages) {
      expect(page.sum('sume_parked_events')).toBe(1);
      const ageMs = page.sum('sume_parked_oldest_age_seconds') * 1000;
      expect(ageMs).toBeGreaterThanOrEqual(fromMs - since);
      expect(ageMs).toBeLessThanOrEqual(toMs - since);
      expect(page.sum('sume_jobs_stale')).toBe(1);
      expect(page.sum('sume_orders_waiting')).toBe(0);
      expect(page.sum('sume_orders_waiting_oldest_age_seconds')).toBe(0);
    }
  });

  test('agrees with what each process wrote in its life', () => {
    for (const { service, page } of seen.pages) {
      const writer = service.names.at(-1);
      const own = seen.written.filter((write) => write.writer === writer);
      const jobs = own.filter(({ relation }) => relation === 'jobs');
      const ends = jobs.filter(
        ({ oldStatus, newStatus }) =>
          !TERMINAL.includes(oldStatus ?? '') && TERMINAL.includes(newStatus ?? ''),
      );
      const reconciled = page.sum('sume_register_outcomes_total', { outcome: 'reconciled' });
      const swept = TERMINAL.map((status) =>
        page.sum('sume_sweep_rows_total', { kind: 'stale', outcome: 'applied', status }),
      ).reduce((one, other) => one + other, 0);
      const applied = page.sum('sume_webhook_outcomes_total', { outcome: 'applied' });
      expect({ writer, ends: reconciled + swept + applied }).toEqual({ writer, ends: ends.length });

      const registered = page.sum('sume_register_outcomes_total', { outcome: 'registered' });
      const inserted = jobs.filter(({ op }) => op === 'INSERT');
      expect(registered + reconciled).toBe(inserted.length);

      const parkings = own.filter(({ relation, op }) => relation === 'parked' && op !== 'DELETE');
      expect(page.sum('sume_webhook_outcomes_total', { outcome: 'parked' })).toBe(parkings.length);
    }
  });

  test('agrees with what Sume sent to a process that was never killed', () => {
    for (const { service, page } of seen.pages.filter((one) => one.service.names.length === 1)) {
      const arrived = attempts((delivery) => receiverOf(delivery) === service).filter(
        ({ attempt }) => attempt.answer !== null || reasonOf(attempt) === 'acknowledgement-lost',
      );
      expect(page.sum('sume_webhook_responses_total')).toBe(arrived.length);
    }
  });

  test('agrees with how often the queue tried submits again', () => {
    const told = seen.pages.reduce((sum, { page }) => sum + page.sum(RETRIES), 0);
    // What the killed process counted after its last page is lost with it, as with any Prometheus counter.
    expect(told + seen.lastPage.sum(RETRIES)).toBeLessThanOrEqual(seen.retries);
    expect(told).toBeGreaterThan(0);
  });

  test('holds every metric that an alert asks for', async () => {
    const alerts = await readFile(
      new URL('../examples/service/alerts.yml', import.meta.url),
      'utf8',
    );
    const asked = new Set(alerts.match(/\bsume_\w+/g));
    expect(asked.size).toBeGreaterThan(0);
    const [first] = seen.pages;
    expect([...asked].filter((name) => first?.page.names.includes(name) !== true)).toEqual([]);
  });
});

const RETRIES = 'sume_submit_retries_total';

interface Sent {
  delivery: Delivery;
  attempt: Attempt;
}

/** Every attempt of the deliveries that match. */
function attempts(matches: (delivery: Delivery) => boolean): Sent[] {
  return seen.deliveries
    .filter(matches)
    .flatMap((delivery) => delivery.attempts.map((attempt) => ({ delivery, attempt })));
}

/** Those of them whose answer reached Sume. */
function answered(
  matches: (delivery: Delivery) => boolean,
): (Sent & { attempt: { answer: NonNullable<Attempt['answer']> } })[] {
  return attempts(matches).flatMap(({ delivery, attempt }) => {
    const { answer } = attempt;
    return answer === null ? [] : [{ delivery, attempt: { ...attempt, answer } }];
  });
}

function reasonOf({ failure }: Attempt): string | undefined {
  return failure?.reason;
}

function receiverOf(delivery: Delivery): ServiceProcess {
  const { origin } = new URL(delivery.url);
  const service = stage.services.find(({ url }) => url === origin);
  if (service === undefined) throw new Error(`${delivery.name} went to ${delivery.url}.`);
  return service;
}

/**
 * How a job should have ended here. Where Sume itself contradicts what it pushed, whatever is durable first stays,
 * so the contradiction may have won: but only if it arrived, and no answer says that the honest event was applied.
 */
function expectedEnd(jobId: string, status: string): string {
  const found = seen.rows.get(jobId)?.status;
  const ofJob = attempts((delivery) => delivery.jobId === jobId && delivery.genuine);
  const mayHaveWon = ofJob.some(
    ({ delivery, attempt }) =>
      delivery.kind === 'contradiction' &&
      delivery.event === `job.${found}` &&
      (attempt.answer !== null || reasonOf(attempt) === 'acknowledgement-lost'),
  );
  const honestWon = ofJob.some(
    ({ delivery, attempt }) =>
      delivery.event === `job.${status}` && attempt.answer?.body.includes('"applied"') === true,
  );
  return found !== undefined && mayHaveWon && !honestWon ? found : status;
}

/** What happened to the service, and how often. */
function met(): Record<string, number> {
  const { deliveries, requests } = seen;
  const sent = attempts(() => true);
  const ofKind = (kind: Delivery['kind']): number =>
    deliveries.filter((delivery) => delivery.kind === kind).length;
  const ended = (status: string): number =>
    seen.truth.filter((job) => job.status === status).length;
  const failing = (reason: string): number =>
    sent.filter(({ attempt }) => reasonOf(attempt) === reason).length;
  const told = (outcome: string): number =>
    sent.filter(({ attempt }) => attempt.answer?.body.includes(`"${outcome}"`) === true).length;
  const submits = requests.filter(({ route }) => route === 'submit');
  const answeredBy = (status: number): number =>
    requests.filter(({ answer }) => answer?.status === status).length;
  return {
    'jobs that completed': ended('completed'),
    'jobs that failed': ended('failed'),
    'jobs that were canceled': ended('canceled'),
    'jobs that expired, which no webhook tells': ended('expired'),
    'webhooks before their job was registered': told('parked'),
    'events sent twice': ofKind('duplicate'),
    'events taken twice': told('duplicate'),
    'events that contradict another': ofKind('contradiction'),
    'contradictions that came second': told('conflict'),
    'events of an unknown kind': ofKind('announcement'),
    'forged events': ofKind('forged'),
    'tampered events': ofKind('tampered'),
    'events too old': ofKind('stale'),
    'attempts lost on their way': failing('delivery-lost'),
    'acknowledgements lost': failing('acknowledgement-lost'),
    'attempts at the killed process': failing('unreachable'),
    'answers to submits lost': submits.filter(({ answer, lost }) => answer === null || lost).length,
    'submits given their job back': requests.filter(
      ({ answer }) => answer !== null && /"idempotency_hit"\s*:\s*true/.test(answer.body),
    ).length,
    'requests answered 429': answeredBy(429),
    'requests answered 500': answeredBy(500),
    'requests answered with a proxy’s page': answeredBy(502),
    'requests answered with nothing': requests.filter(({ answer }) => answer?.body === '').length,
    'jobs that a sweep ended': seen.pages.reduce(
      (sum, { page }) =>
        sum + page.sum('sume_sweep_rows_total', { kind: 'stale', outcome: 'applied' }),
      0,
    ),
  };
}
