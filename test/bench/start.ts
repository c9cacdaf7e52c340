import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { Figure } from './figure.ts';
import { interleave } from './interleave.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const PAIRS = 5;

const BARE = `
  import { PGlite } from '@electric-sql/pglite';
  const database = await PGlite.create();
  await database.close();
`;

/**
 * How long the first `run` of a machine and every later one take, as published (`npm run bench` builds first),
 * from the start of the process to its end, against a process that does nothing but create a PGlite and close
 * it.
 */
export async function benchStart(): Promise<Record<string, Figure>> {
  const folder = await mkdtemp(join(tmpdir(), 'sume-sim-bench-'));
  try {
    const node = (args: string[], cache: string): Promise<unknown> =>
      promisify(execFile)(process.execPath, args, {
        cwd: root,
        env: { ...process.env, XDG_CACHE_HOME: join(folder, cache) },
      });
    const bare = async (): Promise<void> => {
      await node(['--input-type=module', '-e', BARE], 'none');
    };
    const run = async (cache: string): Promise<void> => {
      await node(['dist/sim/cli/main.js', 'run', 'early-webhook'], cache);
    };
    const measure = (subject: (pair: number) => Promise<void>): ReturnType<typeof interleave> =>
      interleave({ pairs: PAIRS, warmup: 1, prepare: async () => {}, subject, baseline: bare });

    const cold = await measure((pair) => run(`cold-${pair}`));
    await run('warm');
    const warm = await measure(() => run('warm'));
    const figure = (
      { ratio, subjectMs, baselineMs }: Awaited<ReturnType<typeof interleave>>,
      atMost: number,
    ): Figure => ({
      value: ratio,
      unit: 'ratio',
      goal: { atMost },
      inputs: { command: 'run early-webhook', runMs: subjectMs, bareMs: baselineMs, pairs: PAIRS },
    });
    return { coldStart: figure(cold, 1.3), warmStart: figure(warm, 0.5) };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
