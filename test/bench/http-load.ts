import { connect, type Socket } from 'node:net';
import { hrtimeNow } from 'tinybench';

/**
 * Asks the same GET again and again on kept-alive connections, each waiting for its answer before it asks
 * again. A client this plain costs less than the barest server, so that the server is what is measured.
 *
 * @returns how long each request took, in milliseconds, in the order of their ends.
 */
export async function loadHttp(options: {
  port: number;
  path: string;
  connections: number;
  requests: number;
}): Promise<number[]> {
  const { port, path, connections } = options;
  const request = `GET ${path} HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\nx-api-key: k\r\n\r\n`;
  const took: number[] = [];
  let left = options.requests;

  const ask = (socket: Socket): Promise<void> =>
    new Promise((resolve, reject) => {
      let text = '';
      let askedAt = 0;
      const next = (): void => {
        if (left === 0) {
          socket.end(resolve);
          return;
        }
        left -= 1;
        text = '';
        askedAt = hrtimeNow();
        socket.write(request);
      };
      socket.on('error', reject);
      socket.on('data', (piece) => {
        text += piece.toString('latin1');
        if (!isWhole(text)) return;
        took.push(hrtimeNow() - askedAt);
        if (text.startsWith('HTTP/1.1 200 ')) next();
        else reject(new Error(`${path} was answered ${text.slice(0, 200)}`));
      });
      socket.on('connect', next);
    });
  await Promise.all(
    Array.from({ length: connections }, () =>
      ask(connect({ port, host: '127.0.0.1', noDelay: true })),
    ),
  );
  return took;
}

function isWhole(text: string): boolean {
  const bodyAt = text.indexOf('\r\n\r\n') + 4;
  const length = /\r\ncontent-length: (\d+)\r\n/i.exec(text)?.[1];
  return bodyAt >= 4 && length !== undefined && text.length >= bodyAt + Number(length);
}
