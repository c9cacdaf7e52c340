import type { Handlers, Integration, Ports, WatchedTables } from '../../index.ts';
import type { CarriedError, CarriedMessage, FromCage, Outcome, ToCage } from '../cage/protocol.ts';
import { watch } from './watchdog.ts';

type Database = Ports['database'];
/** While tables are made there is nothing but the database. */
type SomePorts = Pick<Ports, 'database'> & Partial<Ports>;
type Waiting = { resolve: (value: never) => void; reject: (error: Error) => void };

/** Pasted code has used up its time, or could not be read. */
export class CageError extends Error {
  override readonly name = 'CageError';
  readonly code = 'cage';
  /** The name of what was in it. */
  readonly integration: string;

  constructor(integration: string, reason: string) {
    super(reason);
    this.integration = integration;
  }
}

/** An integration in a cage, and whether the cage had to be ended. */
export interface Caged {
  integration: Integration;
  /** @throws {CageError} if it was: then nothing that came of its schedules means anything. */
  assertAlive(): void;
}

/**
 * An integration whose code runs in the cage, behind a port. Every call and every answer is a message, and a step
 * counts as complete only when the cage says that nothing moves in it any more.
 *
 * @throws {CageError} if the code cannot be read in time. After that what it does wrong is its handlers' failure.
 */
export async function cagedIntegration(cage: MessagePort, name: string): Promise<Caged> {
  const processes = new Map<number, Ports>();
  const returning = new Map<number, Waiting>();
  const quiet = new Map<number, () => void>();
  const transactions = new Map<number, { tx: Pick<Database, 'query'>; done: Waiting }>();
  let setupDatabase: Database | null = null;
  let last = 0;
  let ended: CageError | null = null;
  let ready: Waiting | null = null;

  const end = (reason: string): void => {
    ended = new CageError(name, reason);
    for (const { reject } of returning.values()) reject(ended);
    for (const { done } of transactions.values()) done.reject(ended);
    for (const done of quiet.values()) done();
    ready?.reject(ended);
    for (const known of [returning, transactions, quiet]) known.clear();
    cage.close();
  };

  /** Resolves when the cage is quiet after it. */
  const send = (told: Omit<ToCage, 'turn'>): Promise<void> => {
    last += 1;
    const turn = last;
    if (ended !== null) return Promise.resolve();
    return new Promise((resolve) => {
      const relax = watch(() =>
        end(
          'Your code ran for 3 seconds without waiting for a port: is there a loop without an end?',
        ),
      );
      quiet.set(turn, () => {
        relax();
        resolve();
      });
      cage.postMessage({ ...told, turn });
    });
  };

  const call = <T>(
    told: (id: number) => Omit<ToCage, 'turn'>,
    elsewhere: Ports['elsewhere'],
  ): Promise<T> => {
    last += 1;
    const id = last;
    if (ended !== null) return Promise.reject(ended);
    const returned = new Promise<T>((resolve, reject) => returning.set(id, { resolve, reject }));
    void elsewhere(send(told(id)));
    return returned;
  };

  const answerOf = async (
    ports: SomePorts,
    { id, port, args }: Extract<FromCage, { tells: 'asks' }>,
  ): Promise<unknown> => {
    switch (port) {
      case 'query':
        return plain(await ports.database.query(args[0] as string, args[1] as unknown[]));
      case 'replica':
        return plain(await ports.replica?.query(args[0] as string, args[1] as unknown[]));
      case 'within': {
        const open = transactions.get(args[0] as number);
        return plain(await open?.tx.query(args[1] as string, args[2] as unknown[]));
      }
      case 'sleep':
        return ports.clock?.sleep(args[0] as number);
      case 'fetch': {
        const { url, method, headers, body } = args[0] as CarriedMessage;
        const answer = await ports.fetch?.(url, {
          method,
          headers,
          ...(body === '' ? {} : { body }),
        });
        return answer === undefined ? null : carried(answer);
      }
      default:
        return ports.database.transaction(
          (tx) =>
            new Promise((resolve, reject) => {
              transactions.set(id, {
                tx,
                done: { resolve, reject },
              });
              const told = { does: 'transact', id, now: nowOf(ports) } as Omit<ToCage, 'turn'>;
              void (ports.elsewhere ?? ((work) => work))(send(told));
            }),
          args[0] as object,
        );
    }
  };

  cage.onmessage = ({ data }: MessageEvent<FromCage>) => {
    switch (data.tells) {
      case 'ready':
        ready?.resolve(data.tables as never);
        break;
      case 'quiet':
        quiet.get(data.turn)?.();
        quiet.delete(data.turn);
        break;
      case 'returned':
        settle(returning.get(data.id), data.outcome);
        returning.delete(data.id);
        break;
      case 'transacted':
        settle(transactions.get(data.id)?.done, data.outcome);
        transactions.delete(data.id);
        break;
      case 'asks': {
        const ports = processes.get(data.process) ?? atSetup(setupDatabase);
        if (ports === null) break;
        const elsewhere: Ports['elsewhere'] =
          'elsewhere' in ports ? ports.elsewhere : (work) => work;
        const resume = (outcome: Outcome): void => {
          const told = { does: 'resume', id: data.id, outcome, now: nowOf(ports) };
          void elsewhere(send(told as Omit<ToCage, 'turn'>));
        };
        answerOf(ports, data).then(
          (value) => resume({ value }),
          (error: unknown) => resume({ error: carry(error) }),
        );
      }
    }
  };

  const tables = await new Promise<WatchedTables>((resolve, reject) => {
    const relax = watch(() => end('Your code could not be read within 3 seconds.'));
    ready = {
      resolve: (value) => {
        relax();
        resolve(value);
      },
      reject,
    };
  });

  const integration: Integration = {
    name,
    text: 'Your own code, in a cage.',
    memory: 'shared',
    tables,
    setup: async (database) => {
      setupDatabase = database;
      try {
        await call(
          (id) => ({ does: 'setup', id, now: 0 }) as Omit<ToCage, 'turn'>,
          (work) => work,
        );
      } finally {
        // Kept beyond setup it would be a way past the schedule, and past the audit.
        setupDatabase = null;
      }
    },
    start: (ports): Handlers => {
      last += 1;
      const process = last;
      processes.set(process, ports);
      const { sume, patience } = ports;
      const given = { sume, patience };
      void send({ does: 'start', process, given, now: 0 } as Omit<ToCage, 'turn'>);
      const handle = <T>(handler: string, args: unknown[]): Promise<T> =>
        call<T>(
          (id) => {
            const now = nowOf(ports);
            return { does: 'call', id, process, handler, args, now } as Omit<ToCage, 'turn'>;
          },
          (work) => ports.elsewhere(work),
        );
      return {
        submit: (order) => handle('submit', [order]),
        handleWebhook: async (request) => {
          const asked = await carried(request);
          const answer = await handle<CarriedMessage>('handleWebhook', [asked]);
          return new Response(answer.body === '' ? null : answer.body, answer);
        },
        poll: (jobId) => handle('poll', [jobId]),
        sweep: () => handle('sweep', []),
      };
    },
  };
  return {
    integration,
    assertAlive: () => {
      if (ended !== null) throw ended;
    },
  };
}

function atSetup(database: Database | null): SomePorts | null {
  return database === null ? null : { database };
}

function nowOf(ports: Partial<Ports>): number {
  return ports.clock?.now() ?? 0;
}

function settle(waiting: Waiting | undefined, outcome: Outcome): void {
  if ('value' in outcome) waiting?.resolve(outcome.value as never);
  else waiting?.reject(Object.assign(new Error(outcome.error.message), outcome.error));
}

function carry(error: unknown): CarriedError {
  if (!(error instanceof Error)) return { name: 'Error', message: String(error) };
  const { code } = error as { code?: unknown };
  return {
    name: error.name,
    message: error.message,
    ...(typeof code === 'string' ? { code } : {}),
  };
}

async function carried(message: Request | Response): Promise<CarriedMessage> {
  const headers = [...message.headers];
  const body = await message.text();
  const { url } = message;
  return 'status' in message
    ? { url, method: '', status: message.status, headers, body }
    : { url, method: message.method, status: 200, headers, body };
}

/** A result without what cannot be copied to another thread. */
function plain(result: { rows: object[]; affectedRows?: number } | undefined): unknown {
  return result === undefined ? null : { rows: result.rows, affectedRows: result.affectedRows };
}
