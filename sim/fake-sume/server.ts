import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { systemClock } from '../../src/clock.ts';
import { createRandom } from '../engine/random.ts';
import { failure, Refusal, type Answer } from './answer.ts';
import { REFUSALS } from './assumptions.ts';
import { assembleFakeSume } from './assemble.ts';
import type { FakeSume, FakeSumeOptions } from './fake-sume.ts';
import type { Attempt, Delivery } from './delivery.ts';
import { createSigner } from './signing.ts';
import { BadOptionError } from './errors.ts';
import { mayDeliverTo } from './port/access.ts';
import { createAnswerBatch } from './port/answer-batch.ts';
import { answerControl, CONTROL_PATH } from './port/control-api.ts';
import {
  createNamespaces,
  DEFAULT_NAMESPACE,
  namespaceOf,
  withoutNamespace,
} from './port/namespaces.ts';
import { arrivalFrom } from './port/node-exchange.ts';
import { BadCallError } from './port/operation.ts';
import { OPERATIONS } from './port/operations.ts';
import type { RequestRecord } from './request-log.ts';
import { createRunningClock } from './running-clock.ts';

/** Everything about a fake Sume on a port that can be chosen. */
export interface FakeSumeServerOptions extends Pick<
  FakeSumeOptions,
  'secrets' | 'apiKeys' | 'seed' | 'limits' | 'credits' | 'faults' | 'autopilot'
> {
  /** Default: any free port. */
  port?: number;
  /** What to listen on. Default: `127.0.0.1`, so that nobody else's machine reaches it. */
  host?: string;
  /**
   * How many seconds of Sume pass in one of the machine's. Default: 1. A receiver's time limit and the
   * timestamps of webhooks stay in the machine's.
   */
  timeScale?: number;
  /**
   * Hosts beside loopback that webhooks may be sent to, with a port or without. Default: none. A delivery
   * to any other fails, and the log says why.
   */
  allowWebhookHosts?: readonly string[];
  /** Gets one line for each request, attempt and problem. Default: nothing is written. */
  log?: (line: string) => void;
}

/** A fake Sume on a port. */
export interface FakeSumeServer {
  /** What a client sets as its base URL: `http://127.0.0.1:4010/v1`. */
  readonly baseUrl: string;
  /** Where the control API is: `http://127.0.0.1:4010/__sim`. */
  readonly controlUrl: string;
  readonly port: number;
  /** The fake of requests that name no namespace. */
  readonly fake: FakeSume;
  /** The fake of a namespace, which is made on first use. */
  namespace(name: string): FakeSume;
  /** Cancels everything pending, ends every connection and frees the port. */
  close(): Promise<void>;
}

/** The port cannot be listened on. */
export class ListenError extends Error {
  readonly code = 'cannot_listen';
  override readonly name = 'ListenError';
}

/**
 * Starts a fake Sume on a port, with its control API under `/__sim/`. Time is real, or faster, and can be
 * moved ahead; jobs run by themselves unless `autopilot` is false. What it answers and sends is the same as
 * from the handlers of `createFakeSume`.
 *
 * @throws ListenError when the port cannot be had; BadOptionError for options that cannot work.
 */
export async function createFakeSumeServer(
  options: FakeSumeServerOptions,
): Promise<FakeSumeServer> {
  const { host = '127.0.0.1', port = 0, timeScale = 1, seed = 0 } = options;
  const allowedHosts = options.allowWebhookHosts ?? [];
  const log = options.log ?? ((): void => {});
  if (!(timeScale > 0 && Number.isFinite(timeScale))) {
    throw new BadOptionError(`The time scale is ${timeScale}: give a number above 0.`);
  }
  // What cannot work is refused before a port is taken.
  createSigner(options.secrets);
  const server = createServer();
  // The real address is known only once the server listens, and job addresses are made of it.
  const address = await listen(server, host, port);
  const origin = `http://${nameOf(host, address)}:${address.port}`;
  const baseUrl = `${origin}/v1`;

  const namespaces = createNamespaces((name) =>
    assembleFakeSume(
      {
        ...options,
        baseUrl,
        // A seed of its own each, so that two tests with the same bodies do not get the same job ids.
        seed: name === DEFAULT_NAMESPACE ? seed : createRandom(seed).fork(name).next(),
        autopilot: options.autopilot ?? true,
        clock: createRunningClock(timeScale, systemClock),
        // Receivers live in the machine's time, whatever the fake's clock says.
        stampClock: systemClock,
        send: async (request) => {
          if (!mayDeliverTo(request.url, allowedHosts)) {
            throw new Error(
              `${new URL(request.url).host} is not this machine: name it with allowWebhookHosts ` +
                '(--allow-webhook-host).',
            );
          }
          return fetch(request);
        },
      },
      {
        timeScale,
        watcher: {
          answered: (record) => log(describeRequest(record)),
          attempted: (delivery, attempt) => log(describeAttempt(delivery, attempt)),
        },
      },
    ),
  );
  const main = namespaces.get(DEFAULT_NAMESPACE);

  const answer = (message: IncomingMessage, response: ServerResponse): Promise<Answer | null> => {
    const arrival = arrivalFrom(message, response);
    const { pathname } = arrival;
    const name = namespaceOf(arrival);
    if (pathname === CONTROL_PATH || pathname.startsWith(`${CONTROL_PATH}/`)) {
      return answerControl(arrival, {
        operations: OPERATIONS,
        scope: () => namespaces.get(name),
        boundHost: host,
        serverUrl: origin,
      });
    }
    if (name === DEFAULT_NAMESPACE) return main.answer(arrival);
    return namespaces.get(name).answer(withoutNamespace(arrival));
  };

  const answerFailure = ({ method, url }: IncomingMessage, error: unknown): Answer => {
    log(`${method} ${url}: ${String(error)}`);
    return answerError(error);
  };
  const sendTogether = createAnswerBatch(({ req }, error) => answerFailure(req, error));
  server.on('request', (message: IncomingMessage, response: ServerResponse) => {
    const respond = async (): Promise<void> => {
      let answered: Answer | null;
      try {
        answered = await answer(message, response);
      } catch (error) {
        answered = answerFailure(message, error);
      }
      sendTogether(response, answered);
    };
    void respond();
  });
  server.on('clientError', (error: Error, socket: Socket) => {
    log(`A request that is not HTTP, or broke off: ${error.message}`);
    if (socket.writable) socket.end('HTTP/1.1 400 Bad Request\r\nconnection: close\r\n\r\n');
  });

  return {
    baseUrl,
    controlUrl: `${origin}${CONTROL_PATH}`,
    port: address.port,
    fake: main.fake,
    namespace: (name) => namespaces.get(name).fake,
    async close() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      await Promise.all(namespaces.all().map(({ fake }) => fake.dispose()));
      server.closeAllConnections();
      await closed;
    },
  };
}

function listen(server: Server, host: string, port: number): Promise<AddressInfo> {
  return new Promise((resolve, reject) => {
    const onError = (error: NodeJS.ErrnoException): void => {
      const reason =
        error.code === 'EADDRINUSE'
          ? 'something listens there already: give another port, or 0 for any free one'
          : error.message;
      reject(new ListenError(`Cannot listen on ${host}:${port}: ${reason}.`, { cause: error }));
    };
    server.once('error', onError);
    server.listen(port, host, () => {
      server.off('error', onError);
      resolve(server.address() as AddressInfo);
    });
  });
}

/** A host that a client can connect to: listening on every interface is no address. */
function nameOf(host: string, address: AddressInfo): string {
  if (host === '0.0.0.0' || host === '::') return '127.0.0.1';
  return address.family === 'IPv6' && host.includes(':') ? `[${host}]` : host;
}

function answerError(error: unknown): Answer {
  const refusal =
    error instanceof BadCallError
      ? new Refusal(REFUSALS.badRequest, error.message)
      : new Refusal(REFUSALS.serverError, error instanceof Error ? error.message : String(error));
  return failure(refusal, 'req_sim');
}

function describeRequest(record: RequestRecord): string {
  const outcome = record.answer === null ? 'no answer' : String(record.answer.status);
  const job = record.route === 'submit' && record.jobId !== null ? ` ${record.jobId}` : '';
  const late = record.delayMs === 0 ? null : `${record.delayMs} ms late`;
  const why = [record.instead, late].filter((part) => part !== null).join(', ');
  return `${record.method} ${record.path} → ${outcome}${job}${why === '' ? '' : ` (${why})`}`;
}

function describeAttempt(delivery: Delivery, attempt: Attempt): string {
  const outcome =
    attempt.answer === null
      ? `${attempt.failure?.reason ?? 'no answer'} (${attempt.failure?.message ?? ''})`
      : String(attempt.answer.status);
  return `${delivery.name} ${delivery.event} attempt ${attempt.number} to ${delivery.url} → ${outcome}`;
}
