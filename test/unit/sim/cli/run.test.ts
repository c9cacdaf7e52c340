import { describe, expect, test } from 'vitest';
import type { Run } from '../../../../sim/world/run.ts';
import { runCli } from './run-cli.ts';

describe('run without a seed', () => {
  test('shows the mistake of an integration that is broken on purpose, not just its race', async () => {
    for (const [scenario, integration] of [
      ['conflicting-terminals', 'last-terminal-wins'],
      ['stale-poll', 'naive-update'],
      ['early-webhook', 'drop-unknown'],
    ] as const) {
      const { stdout, code } = await runCli(
        'run',
        scenario,
        '--integration',
        integration,
        '--json',
      );
      expect((JSON.parse(stdout) as Run).verdict).toBe('fail');
      expect(code).toBe(1);
    }
  });
});
