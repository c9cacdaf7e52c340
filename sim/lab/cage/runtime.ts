/**
 * What runs in the cage beside the pasted code, before it in the same classic script: hence no imports but of
 * types, and one name for all of it. It gives the code its ports, each a message to the simulator.
 */
import type { CarriedError, CarriedMessage, FromCage, Outcome, ToCage } from './protocol.ts';

type Pasted = {
  tables: Extract<FromCage, { tells: 'ready' }>['tables'];
  setup(database: unknown): Promise<void>;
  start(ports: unknown): Record<string, (...args: unknown[]) => Promise<unknown>>;
};

/** Called at the end of the script, with what the pasted code has defined. */
function cage(pasted: Pasted, firstLine: number): void {
  let port: MessagePort;
  let now = 0;
  let last = 0;
  let inFlight = 0;
  const waiting = new Map<
    number,
    { resolve: (value: never) => void; reject: (error: Error) => void }
  >();
  /** The bodies of open transactions, each to be given what makes a handle for its process. */
  const transactions = new Map<
    number,
    (within: (process: number) => unknown) => Promise<unknown>
  >();
  const started = new Map<number, ReturnType<Pasted['start']>>();
  const tell = (told: FromCage): void => port.postMessage(told);

  // What leaves the thread for a moment is waited for before the cage counts as quiet.
  const count = (target: object, keys: readonly string[]): void => {
    for (const key of keys) {
      const original = (target as Record<string, unknown>)[key] as (...args: unknown[]) => unknown;
      if (typeof original !== 'function') continue;
      Object.defineProperty(target, key, {
        value: function counted(this: unknown, ...args: unknown[]) {
          const result = original.apply(this, args) as Promise<unknown>;
          inFlight += 1;
          const done = (): void => {
            inFlight -= 1;
          };
          result.then(done, done);
          return result;
        },
      });
    }
  };
  const reads = ['arrayBuffer', 'blob', 'bytes', 'formData', 'json', 'text'];
  count(Request.prototype, reads);
  count(Response.prototype, reads);
  if (globalThis.crypto.subtle !== undefined)
    count(SubtleCrypto.prototype, ['importKey', 'sign', 'verify', 'digest']);
  const { port1, port2 } = new MessageChannel();
  const turns: (() => void)[] = [];
  port1.onmessage = () => turns.shift()?.();
  const aTurn = (): Promise<void> =>
    new Promise((resolve) => {
      turns.push(resolve);
      port2.postMessage(null);
    });
  for (const timer of ['setTimeout', 'setInterval']) {
    Object.defineProperty(globalThis, timer, {
      value: () => {
        throw new Error(`${timer} cannot be simulated. Use clock.sleep(ms) of the ports instead`);
      },
    });
  }

  const carry = (error: unknown): CarriedError => {
    if (!(error instanceof Error)) return { name: 'Error', message: String(error) };
    const { code } = error as { code?: unknown };
    const line =
      Number(/blob:[^)\s]*?:(\d+):\d+/.exec(error.stack ?? '')?.[1] ?? 0) - firstLine + 1;
    const where = line > 0 ? ` (line ${line} of your code)` : '';
    const message = error.message.includes('of your code)') ? error.message : error.message + where;
    return { name: error.name, message, ...(typeof code === 'string' ? { code } : {}) };
  };
  const outcomeOf = (work: () => unknown): Promise<Outcome> =>
    Promise.resolve()
      .then(work)
      .then(
        (value): Outcome => ({ value }),
        (error: unknown): Outcome => ({ error: carry(error) }),
      );

  const ask = (process: number, name: string, args: unknown[]): Promise<never> => {
    last += 1;
    const id = last;
    tell({ tells: 'asks', id, process, port: name, args });
    return new Promise((resolve, reject) => waiting.set(id, { resolve, reject }));
  };
  const queryable = (process: number, name: string, ...before: unknown[]) => ({
    query: (sql: string, params?: unknown[]) => ask(process, name, [...before, sql, params ?? []]),
  });
  const databaseOf = (process: number) => ({
    ...queryable(process, 'query'),
    transaction: (work: (tx: unknown) => Promise<unknown>, options?: unknown) => {
      const answer = ask(process, 'transaction', [options ?? {}]);
      transactions.set(last, (within) => work(within(process)));
      return answer;
    },
  });
  const fetchOf =
    (process: number) =>
    async (input: RequestInfo | URL, init?: RequestInit): Promise<Response> => {
      const request = new Request(input, init);
      const { url, method } = request;
      const body = method === 'GET' || method === 'HEAD' ? '' : await request.text();
      const headers = [...request.headers];
      const answer: CarriedMessage = await ask(process, 'fetch', [{ url, method, headers, body }]);
      return new Response(answer.body === '' ? null : answer.body, answer);
    };

  const act = async (told: ToCage): Promise<void> => {
    switch (told.does) {
      case 'setup': {
        const outcome = await outcomeOf(() => pasted.setup(databaseOf(0)));
        tell({
          tells: 'returned',
          id: told.id,
          outcome: 'error' in outcome ? outcome : { value: null },
        });
        return;
      }
      case 'start': {
        const { process, given } = told;
        const ports = {
          ...given,
          database: databaseOf(process),
          replica: queryable(process, 'replica'),
          fetch: fetchOf(process),
          clock: { now: () => now, sleep: (ms: number) => ask(process, 'sleep', [ms]) },
        };
        // What it throws here is told when the first of its handlers is called.
        const outcome = await outcomeOf(() => pasted.start(ports));
        const failed = async (): Promise<never> => {
          throw Object.assign(new Error(), 'error' in outcome ? outcome.error : {});
        };
        const handlers = 'value' in outcome ? (outcome.value as ReturnType<Pasted['start']>) : null;
        const names = ['submit', 'handleWebhook', 'poll', 'sweep'];
        started.set(process, handlers ?? Object.fromEntries(names.map((name) => [name, failed])));
        return;
      }
      case 'call': {
        const outcome = await outcomeOf(async () => {
          const handler = started.get(told.process)?.[told.handler];
          if (handler === undefined) throw new Error(`start() gives no ${told.handler}`);
          const [first] = told.args as [CarriedMessage];
          if (told.handler !== 'handleWebhook') return handler(...told.args);
          const answer = (await handler(new Request(first.url, first))) as Response;
          return { status: answer.status, headers: [...answer.headers], body: await answer.text() };
        });
        tell({ tells: 'returned', id: told.id, outcome });
        return;
      }
      case 'resume': {
        const asked = waiting.get(told.id);
        waiting.delete(told.id);
        if ('value' in told.outcome) asked?.resolve(told.outcome.value as never);
        else
          asked?.reject(Object.assign(new Error(told.outcome.error.message), told.outcome.error));
        return;
      }
      case 'transact': {
        const work = transactions.get(told.id) ?? (async () => null);
        const outcome = await outcomeOf(() =>
          work((process) => queryable(process, 'within', told.id)),
        );
        tell({ tells: 'transacted', id: told.id, outcome });
      }
    }
  };

  globalThis.onmessage = ({ ports: [given] }: MessageEvent) => {
    if (given === undefined) return;
    port = given;
    port.onmessage = async ({ data }: MessageEvent<ToCage>) => {
      ({ now } = data);
      void act(data);
      do await aTurn();
      while (inFlight > 0);
      tell({ tells: 'quiet', turn: data.turn });
    };
    tell({ tells: 'ready', tables: pasted.tables });
  };
}

// The frame writes the call behind the pasted code.
Object.assign(globalThis, { cage });
