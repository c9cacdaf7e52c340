import type { Clock } from '../../src/clock.ts';
import { takesWebhookUrl } from './assumptions.ts';
import { MAX_ATTEMPTS, type Courier } from './courier.ts';
import type { Attempt, Delivery, DeliveryKind } from './delivery.ts';
import { BadControlError } from './errors.ts';
import type { Job, PushedStatus } from './job.ts';
import type { Ledger } from './ledger.ts';
import type { Signer } from './signing.ts';
import {
  statusOfEvent,
  writeEvent,
  type EventContent,
  type WebhookEvent,
} from './webhook-event.ts';

/** A genuine event of a job, as Sume decided to send it. */
export interface IssuedEvent extends WebhookEvent {
  readonly atMs: number;
}

/** Where to send something, if not to the webhook address that the job was submitted with. */
export interface SendTo {
  url?: string;
}

/** Writes events, seals them rightly or wrongly, and hands them to the courier. */
export interface Mailroom {
  /** The genuine events of a job, oldest first. */
  issued(jobId: string): readonly IssuedEvent[];
  /** Pushes the end of a job: null for `expired`, nor for a job without a webhook address. */
  pushEnd(job: Job): Delivery | null;
  contradict(job: Job, status: PushedStatus, content: EventContent): Delivery;
  announce(job: Job, event: string, content: EventContent): Delivery;
  repeat(job: Job, event: string | undefined, to: SendTo): Delivery;
  forge(jobId: string, event: string, to: SendTo): Delivery;
  tamper(jobId: string, event: string | undefined, to: SendTo): Delivery;
  stale(jobId: string, event: string | undefined, offsetMs: number, to: SendTo): Delivery;
  replay(earlier: Delivery, attempt: Attempt): Delivery;
  clear(): void;
}

/** @param signers `sume` signs as Sume does now; `forger` with a secret that nobody agreed on. */
export function createMailroom(options: {
  clock: Clock;
  /** What timestamps are read from. */
  stampClock: Clock;
  ledger: Ledger;
  courier: Courier;
  signers: { sume: () => Signer; forger: Signer };
}): Mailroom {
  const { clock, stampClock, ledger, courier, signers } = options;
  const issuedByJob = new Map<string, IssuedEvent[]>();

  const issuedOf = (jobId: string): readonly IssuedEvent[] => issuedByJob.get(jobId) ?? [];

  const issue = (job: Job, event: string, content: EventContent): IssuedEvent => {
    const earlier = issuedOf(job.id);
    const occurrence = earlier.filter((one) => one.event === event).length;
    const written = { ...writeEvent(job.id, event, content, occurrence), atMs: clock.now() };
    issuedByJob.set(job.id, [...earlier, written]);
    return written;
  };

  /** The address for a job's events: the one given, else its own, else that of any of its deliveries. */
  const addressOf = (jobId: string, to: SendTo): string => {
    const url = to.url ?? ledger.find(jobId)?.webhookUrl ?? null;
    if (url === null) {
      throw new BadControlError(
        `Nobody knows where to send an event of the job ${JSON.stringify(jobId)}: it has no ` +
          'webhook_url, so give { url }.',
      );
    }
    if (!takesWebhookUrl(url)) {
      throw new BadControlError(
        `${JSON.stringify(url)} cannot be sent to: give an https address, or http on loopback.`,
      );
    }
    return url;
  };

  /** An event that was issued, else one that could have been: for deliveries that are not genuine. */
  const plausible = (jobId: string, event: string | undefined): WebhookEvent => {
    const issued = issuedOf(jobId);
    const found =
      event === undefined ? issued.at(-1) : issued.findLast((one) => one.event === event);
    if (found !== undefined) return found;
    const job = ledger.find(jobId);
    const content = job === undefined ? {} : contentOf(job);
    return writeEvent(jobId, event ?? 'job.completed', content, 0);
  };

  const seal =
    (
      signer: () => Signer,
      event: WebhookEvent,
      signed: { body: string; offsetMs: number } = { body: event.body, offsetMs: 0 },
    ) =>
    async (): Promise<Record<string, string>> => {
      const timestamp = Math.floor((stampClock.now() + signed.offsetMs) / 1000);
      return {
        'content-type': 'application/json',
        'x-sume-event-id': event.eventId,
        'x-sume-timestamp': String(timestamp),
        'x-sume-signature': await signer().sign(timestamp, signed.body),
      };
    };

  const sendGenuine = (
    job: Job,
    kind: DeliveryKind,
    event: WebhookEvent,
    url: string,
    attempts: number,
  ): Delivery =>
    courier.dispatch({
      kind,
      genuine: true,
      jobId: job.id,
      event,
      url,
      attempts,
      seal: seal(signers.sume, event),
      onSent: () => {
        if (event.status !== null) job.reported.add(event.status);
      },
      onAttempt: (delivery, attempt) => logAttempt(ledger, job, delivery, attempt),
    });

  const sendOnce = (
    kind: DeliveryKind,
    jobId: string,
    event: WebhookEvent,
    to: SendTo,
    sealed: () => Promise<Record<string, string>>,
  ): Delivery =>
    courier.dispatch({
      kind,
      genuine: false,
      jobId,
      event,
      url: addressOf(jobId, to),
      attempts: 1,
      seal: sealed,
    });

  return {
    issued: issuedOf,

    pushEnd(job) {
      if (job.webhookUrl === null || job.status === 'expired') return null;
      const event = issue(job, `job.${job.status}`, contentOf(job));
      return sendGenuine(job, 'event', event, job.webhookUrl, MAX_ATTEMPTS);
    },

    contradict(job, status, content) {
      const url = addressOf(job.id, {});
      return sendGenuine(
        job,
        'contradiction',
        issue(job, `job.${status}`, content),
        url,
        MAX_ATTEMPTS,
      );
    },

    announce(job, event, content) {
      const url = addressOf(job.id, {});
      return sendGenuine(job, 'announcement', issue(job, event, content), url, MAX_ATTEMPTS);
    },

    repeat(job, event, to) {
      const issued = issuedOf(job.id);
      const found =
        event === undefined ? issued.at(-1) : issued.findLast((one) => one.event === event);
      if (found === undefined) {
        throw new BadControlError(
          `The job ${JSON.stringify(job.id)} has no event ${event ?? ''} to deliver: end it first.`,
        );
      }
      return sendGenuine(job, 'duplicate', found, addressOf(job.id, to), 1);
    },

    forge(jobId, event, to) {
      const written = plausible(jobId, event);
      return sendOnce(
        'forged',
        jobId,
        written,
        to,
        seal(() => signers.forger, written),
      );
    },

    tamper(jobId, event, to) {
      const honest = plausible(jobId, event);
      const other = honest.status === 'failed' ? 'job.completed' : 'job.failed';
      // The event says something else than what was signed; its id and its signature are the honest ones.
      const changed = { ...writeEvent(jobId, other, {}, 0), eventId: honest.eventId };
      const sealed = seal(signers.sume, honest, { body: honest.body, offsetMs: 0 });
      return sendOnce('tampered', jobId, changed, to, sealed);
    },

    stale(jobId, event, offsetMs, to) {
      const written = plausible(jobId, event);
      const sealed = seal(signers.sume, written, { body: written.body, offsetMs });
      return sendOnce('stale', jobId, written, to, sealed);
    },

    replay(earlier, attempt) {
      const event: WebhookEvent = {
        event: earlier.event,
        eventId: earlier.eventId,
        body: earlier.body,
        status: statusOfEvent(earlier.event),
      };
      return courier.dispatch({
        kind: 'replay',
        genuine: earlier.genuine,
        jobId: earlier.jobId,
        event,
        url: earlier.url,
        attempts: 1,
        seal: () => Promise.resolve({ ...attempt.headers }),
      });
    },

    clear() {
      issuedByJob.clear();
    },
  };
}

function contentOf(job: Job): EventContent {
  if (job.artifacts !== null) return { artifacts: job.artifacts };
  return job.error === null ? {} : { error: job.error };
}

/** Sume's own record of an attempt, which the events route lists. */
function logAttempt(ledger: Ledger, job: Job, delivery: Delivery, attempt: Attempt): void {
  const { answer } = attempt;
  const taken = answer !== null && answer.status >= 200 && answer.status < 300;
  const outcome = answer === null ? 'got no answer' : `was answered ${answer.status}`;
  ledger.log(
    job,
    taken ? 'webhook.delivered' : 'webhook.attempt_failed',
    `Attempt ${attempt.number} to deliver ${delivery.event} ${outcome}.`,
    {
      event: delivery.event,
      event_id: delivery.eventId,
      attempt: attempt.number,
      response_status: answer?.status ?? null,
    },
  );
}
