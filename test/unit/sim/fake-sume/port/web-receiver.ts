import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** One webhook that arrived over HTTP. */
export interface WebReceived {
  headers: IncomingMessage['headers'];
  body: string;
}

/** A webhook receiver on a real port. */
export interface WebReceiver {
  readonly url: string;
  readonly received: readonly WebReceived[];
  close(): Promise<void>;
}

/** @param answer answers each webhook once it is read; without it 200. */
export async function startWebReceiver(
  answer: (response: ServerResponse, received: WebReceived, count: number) => void = (response) =>
    response.end('ok'),
): Promise<WebReceiver> {
  const received: WebReceived[] = [];
  const server = createServer((message, response) => {
    const pieces: Buffer[] = [];
    message.on('data', (piece: Buffer) => pieces.push(piece));
    message.on('end', () => {
      const one = { headers: message.headers, body: Buffer.concat(pieces).toString() };
      received.push(one);
      answer(response, one, received.length);
    });
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`,
    received,
    async close() {
      const closed = new Promise((resolve) => {
        server.close(resolve);
      });
      server.closeAllConnections();
      await closed;
    },
  };
}
