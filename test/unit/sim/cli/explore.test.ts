import { describe, expect, test } from 'vitest';
import type { Run } from '../../../../sim/world/run.ts';
import { runCli } from './run-cli.ts';

describe('explore', () => {
  test('says that it covered every order, with how many schedules, and what they stand for', async () => {
    const { code, stdout, error } = await runCli('explore', 'early-webhook', '--json');
    expect(error).toBeNull();
    const found = JSON.parse(stdout) as Run & {
      schedules: number;
      orders: number;
      complete: boolean;
    };
    expect(found.verdict).toBe('pass');
    expect(found.complete).toBe(true);
    expect(found.orders).toBeGreaterThan(found.schedules);
    expect(code).toBe(0);
  });

  test('shows the shortest violating schedule, whose token replays it', async () => {
    const explored = await runCli(
      'explore',
      'early-webhook',
      '--integration',
      'look-then-park-autocommit',
      '--json',
    );
    const found = JSON.parse(explored.stdout) as Run & {
      failures: number;
      shrunk: { steps: Run['steps']; token: string };
    };
    expect(explored.code).toBe(1);
    expect(found.failures).toBeGreaterThan(0);
    expect(found.violations.map(({ invariant }) => invariant)).toContain('parked-drains');
    const replayed = await runCli('replay', found.token, '--json');
    expect((JSON.parse(replayed.stdout) as Run).steps).toEqual(found.steps);
    expect(found.shrunk.steps.length).toBeLessThan(found.steps.length);
    const human = await runCli(
      'explore',
      'early-webhook',
      '--integration',
      'look-then-park-autocommit',
    );
    expect(human.stdout.trimEnd().split('\n').at(-1)).toContain(`replay ${found.shrunk.token}`);
  });

  test('never calls a limited search complete', async () => {
    const { code, stdout } = await runCli('explore', 'early-webhook', '--max', '3', '--json');
    const found = JSON.parse(stdout) as { schedules: number; complete: boolean; limit: string };
    expect(found).toMatchObject({ schedules: 3, complete: false, limit: 'max' });
    expect(code).toBe(0);
    const human = await runCli('explore', 'early-webhook', '--max', '3');
    expect(human.stdout).toContain('were not covered');
  });
});
