/**
 * A server for the benchmark of the fake on a port, in a process of its own: `fake`, or `bare`, which answers
 * the bytes that it was given to everything. Speaks with the benchmark over its channel.
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { publishedServer } from './published.ts';

/** What the benchmark asks of a child. */
export type ToChild = 'memory' | 'reset' | 'end';

/** What a child says: first its port, then an answer to each question. */
export interface FromChild {
  port?: number;
  /** After a collection of garbage. */
  heapBytes?: number;
  done?: true;
}

const [kind, body = ''] = process.argv.slice(2);

function say(message: FromChild): void {
  process.send?.(message);
}

if (kind === 'bare') {
  const server = createServer((_request, response) => {
    response.writeHead(200, {
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(body),
    });
    response.end(body);
  });
  server.listen(0, '127.0.0.1', () => say({ port: (server.address() as AddressInfo).port }));
  process.on('message', () => process.exit());
} else {
  const { createFakeSumeServer } = publishedServer;
  const server = await createFakeSumeServer({
    secrets: ['whsec_bench'],
    // 30 s between two attempts become 50 ms.
    timeScale: 600,
    faults: { jobs: { startMs: [0, 1_000], runMs: [0, 10_000] } },
  });
  process.on('message', (asked: ToChild) => {
    void answer(asked);
  });
  const answer = async (asked: ToChild): Promise<void> => {
    if (asked === 'end') process.exit();
    if (asked === 'reset') await server.fake.control.reset();
    if (asked === 'memory') {
      // A second collection takes what finalizers of the first let go.
      globalThis.gc?.();
      globalThis.gc?.();
    }
    say({ done: true, heapBytes: process.memoryUsage().heapUsed });
  };
  say({ port: server.port });
}
