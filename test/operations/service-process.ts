import { startChild, type Child } from '../setup/child.ts';

/** One process of the example's service, which can be killed and started again where it was. */
export interface ServiceProcess {
  url: string;
  /** How its statements are marked on the server: `application_name`. Another one after each start. */
  names: readonly string[];
  /** Ends it without a chance to tidy up. */
  kill(): Promise<void>;
  /** Starts it again, on the same port. */
  start(): Promise<void>;
  /** Ends it as a deployment does. Rejects if it did not end well. */
  stop(): Promise<void>;
  /** Every line of stderr, of all its lives. */
  errors(): string;
}

const FILE = 'test/examples/service/main.ts';

/** @param port 0 for any free one, which is then kept. */
export async function startService(
  name: string,
  port: number,
  env: Readonly<Record<string, string>>,
): Promise<ServiceProcess> {
  const names: string[] = [];
  const earlier: string[] = [];
  let child: Child | null = null;
  let url = '';

  const start = async (onPort: string): Promise<void> => {
    const own = `${name}/${names.length + 1}`;
    names.push(own);
    child = await startChild(FILE, [], { ...env, PORT: onPort, PGAPPNAME: own });
    url = (child.first as { url: string }).url;
  };
  const end = async (signal: NodeJS.Signals): Promise<number | null> => {
    if (child === null) return 0;
    const code = await child.end(signal);
    earlier.push(child.errors());
    child = null;
    return code;
  };

  await start(String(port));
  return {
    get url() {
      return url;
    },
    names,
    kill: async () => {
      await end('SIGKILL');
    },
    start: () => start(new URL(url).port),
    stop: async () => {
      const code = await end('SIGTERM');
      if (code !== 0) throw new Error(`${name} ended with ${code}: ${earlier.join('')}`);
    },
    errors: () => [...earlier, child?.errors() ?? ''].join(''),
  };
}
