import type { Effect } from '../engine/call.ts';
import type { Engine } from '../engine/engine.ts';
import { ConnectionResetError } from '../engine/errors.ts';
import type { DeliveryAttempt } from '../fake-sume/index.ts';
import { EPOCH_MS } from './clocks.ts';
import { tell, type Evidence, type HandledDelivery } from './evidence.ts';
import type { RunningProcess } from './processes.ts';

/** How far a timestamp may be off, in seconds, before a webhook may be refused for it. */
const TOLERANCE_S = 300;

type WebAnswer = NonNullable<HandledDelivery['answer']>;

/** The way of a webhook: to the web process as one step, and its answer's way back as another. */
export interface DeliveryRoad {
  send(request: Request, attempt: DeliveryAttempt): Promise<Response>;
  /** The web process crashed: whoever waits for an answer of it sees its connection reset. */
  reset(): void;
}

export function createDeliveryRoad(
  engine: Engine,
  web: RunningProcess,
  evidence: Evidence,
  bodyOf: (deliveryName: string) => string,
): DeliveryRoad {
  const waiting = new Set<(error: ConnectionResetError) => void>();

  const isInTolerance = (attempt: DeliveryAttempt): boolean => {
    engine.touch('clock:web', 'read');
    const nowS = (EPOCH_MS + engine.nowMs + web.skewMs) / 1000;
    return Math.abs(Math.floor(nowS) - attempt.timestamp) <= TOLERANCE_S;
  };

  /** The webhook is there: a task of the web process handles it. */
  const arrive = (
    attempt: DeliveryAttempt,
    request: { url: string; headers: Headers; body: string },
    suffix: string,
  ): Promise<WebAnswer> => {
    const status = STATUS_OF_EVENT[attempt.event] ?? null;
    let settle: (answer: WebAnswer) => void = () => {};
    const answered = new Promise<WebAnswer>((resolve, reject) => {
      settle = resolve;
      waiting.add(reject);
    });
    answered.catch(() => {
      // Whoever sent it may have hung up before.
    });
    const task = engine.spawn(
      {
        name: `${attempt.name.replace(/^webhook/, 'web')}/${attempt.attempt}${suffix}`,
        actor: 'web',
        process: web,
      },
      async () => {
        try {
          const response = await web.handlers.handleWebhook(
            new Request(request.url, {
              method: 'POST',
              headers: request.headers,
              body: request.body,
            }),
          );
          handled.answer = { status: response.status, body: await response.text() };
          // From here on the row is judged by it, and the row is looked at now.
          if (attempt.genuine && status !== null) engine.touch(`row:${attempt.jobId}`, 'read');
        } catch (error) {
          // What a server makes of a handler that throws.
          handled.threw =
            error instanceof Error ? `${error.name}: ${error.message}` : String(error);
        }
        handled.inTolerance &&= isInTolerance(attempt);
        settle(handled.answer ?? { status: 500, body: '' });
      },
    );
    const handled: HandledDelivery = {
      task,
      jobId: attempt.jobId,
      event: attempt.event,
      status,
      genuine: attempt.genuine,
      disguise: attempt.genuine ? null : attempt.kind,
      answer: null,
      threw: null,
      inTolerance: isInTolerance(attempt),
      judged: false,
    };
    if (attempt.genuine && status !== null) tell(evidence, task, attempt.jobId, status);
    evidence.deliveries.push(handled);
    return answered;
  };

  return {
    send: async (request, attempt) => {
      const { signal } = request;
      // Not read from the request: a body is a stream, which costs more than all the rest of a step.
      const carried = { url: request.url, headers: request.headers, body: bodyOf(attempt.name) };
      const text = `${attempt.event} ${attempt.jobId}${describeKind(attempt)}`;
      const sender = engine.currentTask();
      // The answer is wrapped: a step's value that is a promise would be waited for.
      const answered = await engine.step<{ answer: Promise<WebAnswer> }>({
        name: '→ web',
        kind: 'delivery',
        to: 'web',
        signal,
        perform: () => ({ text, value: { answer: arrive(attempt, carried, '') } }),
        faults: [
          {
            fault: 'drop-delivery',
            perform: (): Effect<never> => lost(`${text}: lost on the way`),
          },
          {
            fault: 'duplicate-delivery',
            perform: () => {
              const answer = arrive(attempt, carried, '');
              void arrive(attempt, carried, '/again');
              return { text: `${text}: arrives twice`, value: { answer } };
            },
          },
        ],
      });
      const answer = await engine.handedOver(answered.answer);
      const said = `${answer.status}${describeOutcome(answer.body)}`;
      return engine.step<Response>({
        name: '← web',
        kind: 'acknowledgement',
        sentBy: sender.lastLabel,
        signal,
        perform: () => ({
          text: said,
          value: new Response(answer.body === '' ? null : answer.body, { status: answer.status }),
        }),
        faults: [
          {
            fault: 'drop-acknowledgement',
            perform: (): Effect<never> => lost(`${said}: lost on the way`),
          },
        ],
      });
    },

    reset: () => {
      for (const reject of waiting) {
        reject(new ConnectionResetError('The web process crashed before it answered.'));
      }
      waiting.clear();
    },
  };
}

/** What each event stands for. The checker's own list. */
const STATUS_OF_EVENT: Readonly<Record<string, string>> = {
  'job.completed': 'completed',
  'job.failed': 'failed',
  'job.canceled': 'canceled',
};

function describeKind({ kind, attempt }: DeliveryAttempt): string {
  if (kind !== 'event' && kind !== 'contradiction' && kind !== 'announcement') return `, ${kind}`;
  return `, attempt ${attempt}`;
}

/** The outcome that the handler's answer names, if it names one. */
function describeOutcome(body: string): string {
  try {
    const outcome = (JSON.parse(body) as { outcome?: unknown } | null)?.outcome;
    return typeof outcome === 'string' ? ` ${outcome}` : '';
  } catch {
    // Any body is a valid answer; only ours names an outcome.
    return '';
  }
}

function lost(text: string): Effect<never> {
  return { text, error: new TypeError('Failed to fetch') };
}
