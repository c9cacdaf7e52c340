import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, inject, it } from 'vitest';

const SEEDS = 100;

describe('a seed', () => {
  it('gives the same trace in another process, byte for byte', async () => {
    const script = fileURLToPath(new URL('trace-hashes.ts', import.meta.url));
    const runs = [1, 2].map(() =>
      promisify(execFile)(process.execPath, [
        '--import',
        'tsx',
        script,
        inject('pgliteTemplate'),
        '1',
        String(SEEDS),
      ]),
    );
    const [one, other] = await Promise.all(runs);
    const lines = one?.stdout.trim().split('\n') ?? [];
    expect(lines).toHaveLength(SEEDS);
    // Different seeds part: else equal hashes would prove nothing.
    expect(new Set(lines.map((line) => line.split(' ')[1])).size).toBeGreaterThan(SEEDS * 0.9);
    expect(other?.stdout).toBe(one?.stdout);
  }, 300_000);
});
