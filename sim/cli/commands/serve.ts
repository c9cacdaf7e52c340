import type { Command } from 'commander';
import { MAX_SEED } from '../../engine/random.ts';
import type { FakeSumeServer, FakeSumeServerOptions } from '../../fake-sume/server.ts';
import { ansiPalette } from '../ansi-palette.ts';
import type { ConsoleOutput } from '../console-output.ts';
import type { Context } from '../context.ts';
import { exitCode } from '../exit-code.ts';
import { faultProfile } from '../fault-profile.ts';
import { untilInterrupted } from '../until-interrupted.ts';
import { UsageError } from '../usage-error.ts';
import { wholeNumber } from '../whole-number.ts';

interface ServeOptions {
  port?: number;
  host?: string;
  webhookSecret?: string[];
  apiKey?: string[];
  faults?: string;
  seed?: number;
  timeScale?: number;
  allowWebhookHost?: string[];
  credits?: number;
  limits?: true;
  manual?: true;
  quiet?: true;
  json?: true;
}

const DEFAULT_PORT = 4010;
const DEFAULT_SECRET = 'whsec_local';
const MOST_CREDITS = 1_000_000_000;
const FASTEST = 100_000;

/** `serve`: the fake Sume on a port, until Ctrl-C. */
export function addServeCommand(program: Command, context: Context): void {
  program
    .command('serve')
    .description('run a fake Sume on a port, for handlers and clients in any language')
    .option(
      '--port <n>',
      `0 for any free one (default: ${DEFAULT_PORT})`,
      wholeNumber('--port', 0, 65_535),
    )
    .option('--host <name>', 'what to listen on (default: 127.0.0.1, this machine only)')
    .option(
      '--webhook-secret <secret>',
      `signs webhooks; twice during a rotation, the newest first (default: ${DEFAULT_SECRET})`,
      repeated,
    )
    .option(
      '--api-key <key>',
      'a key that is let in; several times for several (default: any key)',
      repeated,
    )
    .option('--faults <profile>', 'none, mild, chaos or a file of JSON (default: none)')
    .option('--seed <n>', 'decides every fault (default: 1)', wholeNumber('--seed', 0, MAX_SEED))
    .option('--time-scale <n>', 'seconds of Sume in one real second (default: 1)', timeScale)
    .option(
      '--allow-webhook-host <host>',
      'a host beside this machine that webhooks may go to; several times for several',
      repeated,
    )
    .option(
      '--credits <n>',
      'jobs that can be submitted before 402',
      wholeNumber('--credits', 0, MOST_CREDITS),
    )
    .option('--limits', 'rate limits as Sume publishes them: 120 reads and 10 submits a minute')
    .option('--manual', 'jobs wait for the control API instead of running by themselves')
    .option('--quiet', 'no line for each request and attempt')
    .option('--json', 'one JSON object on stdout once it listens, and nothing else there')
    .addHelpText(
      'after',
      `
What it sends and answers, and why, stands on stderr line by line. Ctrl-C ends it with nothing left pending.

Examples:
  sume-sim serve
  sume-sim serve --port 4010 --webhook-secret whsec_test --faults chaos --seed 7
  sume-sim serve --manual --time-scale 60 --json`,
    )
    .action(async (options: ServeOptions) => {
      const { createFakeSumeServer, ListenError } = await import('../../fake-sume/server.ts');
      const { BadOptionError } = await import('../../fake-sume/errors.ts');
      const chosen = await serverOptions(options, context.stderr);
      let server: FakeSumeServer;
      try {
        server = await createFakeSumeServer(chosen);
      } catch (error) {
        if (!(error instanceof ListenError || error instanceof BadOptionError)) throw error;
        throw new UsageError(error.message, { cause: error });
      }
      const refuses = await mayRefuseSubmits(chosen);
      const ended = untilInterrupted();
      await context.stdout.write(
        options.json === true
          ? JSON.stringify(asJson(server, chosen))
          : startupLines(server, chosen, options, { refuses, stdout: context.stdout }).join('\n'),
      );
      await ended;
      await server.close();
      context.finish(exitCode.pass);
    });
}

async function serverOptions(
  options: ServeOptions,
  stderr: ConsoleOutput,
): Promise<FakeSumeServerOptions> {
  const { PUBLISHED_LIMITS } = await import('../../fake-sume/limits.ts');
  const { host, apiKey, credits } = options;
  return {
    port: options.port ?? DEFAULT_PORT,
    secrets: options.webhookSecret ?? [DEFAULT_SECRET],
    faults: await faultProfile(options.faults ?? 'none'),
    seed: options.seed ?? 1,
    timeScale: options.timeScale ?? 1,
    allowWebhookHosts: options.allowWebhookHost ?? [],
    autopilot: options.manual !== true,
    ...(host === undefined ? {} : { host }),
    ...(apiKey === undefined ? {} : { apiKeys: apiKey }),
    ...(credits === undefined ? {} : { credits }),
    ...(options.limits === true ? { limits: PUBLISHED_LIMITS } : {}),
    ...(options.quiet === true ? {} : { log: (line: string) => void stderr.write(line) }),
  };
}

async function mayRefuseSubmits({ faults = 'none' }: FakeSumeServerOptions): Promise<boolean> {
  const { faultPreset } = await import('../../fake-sume/faults/presets.ts');
  const { mayRefuse } = await import('../../fake-sume/faults/profile.ts');
  return mayRefuse(typeof faults === 'string' ? faultPreset(faults) : faults, 'submit');
}

/** What a script needs to know. */
function asJson(server: FakeSumeServer, options: FakeSumeServerOptions): Record<string, unknown> {
  return {
    baseUrl: server.baseUrl,
    controlUrl: server.controlUrl,
    port: server.port,
    apiKeys: options.apiKeys ?? null,
    webhookSecrets: options.secrets,
    seed: options.seed,
    faults: options.faults,
    timeScale: options.timeScale,
    autopilot: options.autopilot,
  };
}

/** One line for each thing that a person needs. */
function startupLines(
  server: FakeSumeServer,
  options: FakeSumeServerOptions,
  given: ServeOptions,
  { refuses, stdout }: { refuses: boolean; stdout: ConsoleOutput },
): string[] {
  const palette = ansiPalette(stdout.colour);
  const key = options.apiKeys?.[0] ?? 'any';
  const line = (name: string, value: string): string =>
    `  ${palette('heading', name.padEnd(16))}${value}`;
  const scale = options.timeScale === 1 ? 'real' : `${options.timeScale} times as fast as real`;
  const lines = [
    palette('heading', 'A fake Sume listens.'),
    line('Base URL', server.baseUrl),
    line('API key', options.apiKeys?.join(', ') ?? 'any'),
    line('Webhook secret', options.secrets.join(', ')),
    line('Faults', `${given.faults ?? 'none'}, seed ${options.seed}`),
    line('Jobs', options.autopilot === true ? 'run by themselves' : 'wait for the control API'),
    line('Time', scale),
    line('Webhooks go to', ['this machine', ...(options.allowWebhookHosts ?? [])].join(', ')),
    line('Control API', `${server.controlUrl}/ (described by ${server.controlUrl}/openapi.json)`),
    line(
      'Try it',
      `curl -X POST ${server.baseUrl}/models/sume/avatar-video/v1.0/runs -H 'Authorization: Bearer ${key}' -H 'Content-Type: application/json'${refuses ? " -H 'Idempotency-Key: try-1'" : ''} -d '{"webhook_url":"http://localhost:3000/webhook"}'`,
    ),
    ...(refuses
      ? [
          line(
            'If that fails',
            'with these faults a request can be refused (429, 5xx, no JSON) or cut: repeat it with the same Idempotency-Key',
          ),
        ]
      : []),
    line('Your client', `set its base URL to ${server.baseUrl}, and nothing else`),
    'Ctrl-C ends it.',
  ];
  return lines;
}

function repeated(value: string, previous: string[] | undefined): string[] {
  return [...(previous ?? []), value];
}

function timeScale(text: string, previous: number | undefined): number {
  if (previous !== undefined) throw new UsageError('--time-scale is given twice; give it once');
  const value = Number(text);
  if (!/^\d+(\.\d+)?$/.test(text) || value <= 0 || value > FASTEST) {
    throw new UsageError(
      `--time-scale takes a number above 0 and up to ${FASTEST}, and ${JSON.stringify(text)} is none`,
    );
  }
  return value;
}
