import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, test } from 'vitest';
import { createFakeSumeServer } from '../../../../sim/fake-sume/server.ts';
import { UsageError } from '../../../../sim/cli/usage-error.ts';
import { runCli } from './run-cli.ts';

const main = fileURLToPath(new URL('../../../../sim/cli/main.ts', import.meta.url));
const children: ChildProcess[] = [];
afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
});

interface Serving {
  child: ChildProcess;
  /** The first line of stdout. */
  first: string;
  output: { stdout: string; stderr: string };
}

async function serve(...args: string[]): Promise<Serving> {
  const child = spawn(process.execPath, ['--import', 'tsx', main, 'serve', '--port', '0', ...args]);
  children.push(child);
  const output = { stdout: '', stderr: '' };
  child.stdout.on('data', (piece: Buffer) => (output.stdout += piece.toString()));
  child.stderr.on('data', (piece: Buffer) => (output.stderr += piece.toString()));
  const [first] = (await once(createInterface(child.stdout), 'line')) as [string];
  return { child, first, output };
}

async function endOf({ child }: Serving, signal: NodeJS.Signals): Promise<unknown> {
  const ended = once(child, 'close');
  child.kill(signal);
  const [code] = (await ended) as [number | null];
  return code;
}

describe('serve', () => {
  test.each(['SIGINT', 'SIGTERM'] as const)(
    'says where it is in one JSON object, answers there, and ends with 0 at %s with work pending',
    async (signal) => {
      const serving = await serve('--json', '--webhook-secret', 'new', '--webhook-secret', 'old');
      const where = JSON.parse(serving.first) as { baseUrl: string; controlUrl: string };
      expect(where).toMatchObject({
        webhookSecrets: ['new', 'old'],
        seed: 1,
        faults: 'none',
        timeScale: 1,
        autopilot: true,
        apiKeys: null,
      });
      const submitted = await fetch(`${where.baseUrl}/models/m/runs`, {
        method: 'POST',
        headers: { 'x-api-key': 'k', 'content-type': 'application/json' },
        body: JSON.stringify({ webhook_url: 'http://127.0.0.1:9/hook' }),
      });
      expect(submitted.status).toBe(202);
      const { data } = (await submitted.json()) as { data: { request_id: string } };
      // Nobody listens there, so a retry is pending when the end comes.
      await fetch(`${where.controlUrl}/jobs/${data.request_id}/complete`, { method: 'POST' });
      await expect.poll(() => serving.output.stderr).toMatch(/attempt 1 .* unreachable/);
      expect(await endOf(serving, signal)).toBe(0);
      expect(serving.output.stdout).toBe(`${serving.first}\n`);
      expect(serving.output.stderr).toContain('POST /v1/models/m/runs → 202');
    },
  );

  test('tells a person each thing that they need, once', async () => {
    const serving = await serve(
      '--quiet',
      '--api-key',
      'sume_live_a',
      '--faults',
      'mild',
      '--manual',
    );
    await expect.poll(() => serving.output.stdout).toContain('Ctrl-C ends it.');
    const { stdout } = serving.output;
    const baseUrl = /Base URL +(\S+)/.exec(stdout)?.[1] ?? '';
    expect(stdout).toMatch(/API key +sume_live_a\n/);
    expect(stdout).toMatch(/Webhook secret +whsec_local\n/);
    expect(stdout).toMatch(/Faults +mild, seed 1\n/);
    expect(stdout).toMatch(/Jobs +wait for the control API\n/);
    expect(stdout).toContain(`set its base URL to ${baseUrl}`);
    const health = await fetch(`${baseUrl}/health`);
    expect(health.status).toBeLessThan(600);
    await endOf(serving, 'SIGINT');
    expect(serving.output.stderr).toBe('');
  });
});

test.each([
  ['chaos', true],
  ['none', false],
])(
  'with the faults %s it says whether the request that it suggests can fail',
  async (faults, can) => {
    const serving = await serve('--quiet', '--faults', faults);
    await expect.poll(() => serving.output.stdout).toContain('Ctrl-C ends it.');
    const { stdout } = serving.output;
    expect(/If that fails +.*429, 5xx.*same Idempotency-Key\n/.test(stdout)).toBe(can);
    expect(/Try it +curl .*-H 'Idempotency-Key: /.test(stdout)).toBe(can);
    await endOf(serving, 'SIGINT');
  },
);

describe('serve refuses in one line', () => {
  const refusal = async (...args: string[]): Promise<string> => {
    const { error } = await runCli('serve', ...args);
    if (!(error instanceof UsageError)) throw new Error(`Not refused: ${String(error)}`);
    expect(error.message).not.toContain('\n');
    return error.message;
  };

  test('a port that is taken', async () => {
    const taken = await createFakeSumeServer({ secrets: ['s'] });
    try {
      expect(await refusal('--port', `${taken.port}`)).toContain('something listens there already');
    } finally {
      await taken.close();
    }
  });

  test.each([
    [['--port', '70000'], '--port takes a whole number from 0 to 65535'],
    [['--time-scale', '0'], '--time-scale takes a number above 0'],
    [['--time-scale', '1e3'], '"1e3" is none'],
    [['--time-scale', '2', '--time-scale', '3'], '--time-scale is given twice'],
    [['--webhook-secret', ''], 'anybody could sign with it'],
    [['--faults', 'wild'], 'none, mild, chaos or a file'],
    [['--seed', '-1'], '--seed takes a whole number'],
    [['--prot', '1'], '--port'],
  ])('%j', async (args, message) => {
    expect(await refusal(...args)).toContain(message);
  });

  test('a fault profile that is no JSON, or says something that is not known', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'sume-sim-faults-'));
    try {
      const file = join(folder, 'faults.json');
      await writeFile(file, '{"jobs":');
      expect(await refusal('--faults', file)).toMatch(/faults\.json" is not JSON: /);
      await writeFile(file, '{"jobs":{"earlier":1}}');
      expect(await refusal('--faults', file)).toContain('faults.jobs.earlier is not known');
    } finally {
      await rm(folder, { recursive: true });
    }
  });
});
