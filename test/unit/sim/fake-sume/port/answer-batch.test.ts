import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, it, vi } from 'vitest';
import type { Answer } from '../../../../../sim/fake-sume/answer.ts';
import { createAnswerBatch } from '../../../../../sim/fake-sume/port/answer-batch.ts';

const answer = (body: string, headers: Record<string, string> = {}): Answer => ({
  status: 200,
  headers,
  body,
});

const servers: ReturnType<typeof createServer>[] = [];
afterEach(() => {
  vi.useRealTimers();
  for (const server of servers.splice(0)) server.close();
});

/** Asks `count` times at once; the answers are all given in one turn, when all have asked. */
async function askTogether(
  count: number,
  give: (responses: readonly ServerResponse[]) => void,
): Promise<string[]> {
  const asked: ServerResponse[] = [];
  const server = createServer((message, response) => {
    asked[Number(message.url?.slice(1))] = response;
    if (Object.keys(asked).length === count) give(asked);
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return Promise.all(
    Array.from({ length: count }, async (_, number) => {
      const response = await fetch(`http://127.0.0.1:${port}/${number}`).catch(() => null);
      return response === null ? 'lost' : response.text();
    }),
  );
}

it('an answer that cannot be written costs only its own request its answer', async () => {
  const said = await askTogether(4, (responses) => {
    const send = createAnswerBatch((response, error) =>
      answer(`instead of ${response.req.url}: ${(error as { code?: string }).code}`),
    );
    const answers = [answer('first'), answer('', { 'x-a': 'a\nb' }), null, answer('last')];
    for (const [number, response] of responses.entries()) send(response, answers[number] ?? null);
  });
  expect(said).toEqual(['first', 'instead of /1: ERR_INVALID_CHAR', 'lost', 'last']);
});

it('answers go out although every timer is faked', async () => {
  const said = await askTogether(2, (responses) => {
    const send = createAnswerBatch(() => answer('cannot be written'));
    vi.useFakeTimers();
    for (const response of responses) send(response, answer('ok'));
  });
  expect(said).toEqual(['ok', 'ok']);
});
