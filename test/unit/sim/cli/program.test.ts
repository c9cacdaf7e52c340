import fc from 'fast-check';
import { beforeAll, describe, expect, test } from 'vitest';
import { UsageError } from '../../../../sim/cli/usage-error.ts';
import { faults } from '../../../../sim/world/faults.ts';
import { invariants } from '../../../../sim/world/invariants.ts';
import type { Deviation } from '../../../../sim/engine/chooser.ts';
import type { Step } from '../../../../sim/engine/trace.ts';
import type { Run } from '../../../../sim/world/run.ts';
import { scenarios } from '../../../../sim/world/scenarios.ts';
import { integrations } from '../../../../sim/integrations/index.ts';
import { runCli, type CliResult } from './run-cli.ts';

/** What `--json` printed: one object, on one line. */
function json<T>(result: CliResult): T {
  expect(result.error).toBeNull();
  expect(result.stdout.endsWith('\n')).toBe(true);
  expect(result.stdout.trimEnd()).not.toContain('\n');
  return JSON.parse(result.stdout) as T;
}

describe('list', () => {
  test('gives everything that can be named, with one sentence each', async () => {
    const listed = json<Record<string, { name: string; text: string }[]>>(
      await runCli('list', '--json'),
    );
    const names = (things: readonly { name: string }[]): string[] => things.map(({ name }) => name);
    expect(Object.keys(listed)).toEqual(['scenarios', 'integrations', 'invariants', 'faults']);
    expect(names(listed['scenarios'] ?? [])).toEqual(names(scenarios));
    expect(names(listed['integrations'] ?? [])).toEqual(names(integrations));
    expect(names(listed['invariants'] ?? [])).toEqual(names(invariants));
    expect(names(listed['faults'] ?? [])).toEqual(names(faults));
    for (const { text } of Object.values(listed).flat()) expect(text).toMatch(/\S/);
  });

  test('shows the same to a person', async () => {
    const { stdout, code } = await runCli('list');
    for (const { name } of [...scenarios, ...integrations, ...invariants, ...faults]) {
      expect(stdout).toContain(`  ${name} `);
    }
    expect(code).toBe(0);
  });
});

describe('a run that passes', () => {
  let human: CliResult;
  let machine: CliResult;
  beforeAll(async () => {
    human = await runCli('run', 'early-webhook');
    machine = await runCli('run', 'early-webhook', '--json');
  });

  test('ends with 0, and says so', () => {
    expect(human.code).toBe(0);
    expect(human.stdout.trimEnd().split('\n').at(-1)).toMatch(/^✓ pass/);
    expect(human.stderr).toBe('');
  });

  test('names scenario, integration, seed and database first, and how the seed was found', () => {
    const { seed } = json<Run>(machine);
    expect(human.stdout.split('\n')[0]).toBe(
      `early-webhook · integration guarded · seed ${seed} · database pglite ` +
        '(the first seed that holds the race)',
    );
  });

  test('holds the race that the scenario is about, and no earlier seed does', async () => {
    const run = json<Run>(machine);
    const race = scenarios.find(({ name }) => name === 'early-webhook')?.race;
    expect(race?.(run)).toBe(true);
    for (let seed = 1; seed < (run.seed ?? 0); seed += 1) {
      const earlier = json<Run>(
        await runCli('run', 'early-webhook', '--json', '--seed', `${seed}`),
      );
      expect(race?.(earlier)).toBe(false);
    }
  });

  test('shows every row change beside its step', () => {
    const { steps } = json<Run>(machine);
    const inserted = steps.find(({ changes }) => changes.some(({ before }) => before === null));
    expect(inserted).toBeDefined();
    expect(human.stdout).toContain('job_a: + queued');
  });
});

describe('a run that fails', () => {
  let human: CliResult;
  let run: Run & {
    runs: number;
    schedulesPerSecond: number;
    shrunk: { steps: Step[]; deviations: Deviation[]; token: string; schedules: number };
  };
  const args = ['fuzz', 'stale-poll', '--integration', 'naive-update', '--runs', '200'];
  beforeAll(async () => {
    human = await runCli(...args);
    run = json(await runCli(...args, '--json'));
  });

  test('ends with 1, and its last line is the command that replays it', () => {
    expect(human.code).toBe(1);
    expect(human.stdout.trimEnd().split('\n').at(-1)).toBe(
      `npm run sim -- replay ${run.shrunk.token}`,
    );
  });

  test('is shown as small as it gets, with what races in it, and a test to paste', () => {
    const { steps, deviations, token } = run.shrunk;
    expect(steps.length).toBeLessThan(run.steps.length);
    expect(deviations.length).toBeLessThanOrEqual(2);
    expect(human.stdout.split('\n')[0]).toContain(` · seed ${run.seed} · `);
    expect(human.stdout.split('\n')[1]).toBe(
      `Shrunk from ${run.steps.length} steps to ${steps.length}, with 2 departures from run-to-completion ` +
        `(${run.shrunk.schedules} schedules).`,
    );
    expect(human.stdout).toMatch(/What races\s+Step \d+ \(web.*\) and step \d+ \(poll/s);
    expect(human.stdout).toMatch(/Swapped\s+With .* it\s+passes/s);
    // The columns end with the violation.
    expect(human.stdout).toMatch(new RegExp(`✗ ${steps.length} `));
    expect(human.stdout).not.toContain('left out');
    expect(human.stdout).toContain(`'${token}';`);
  });

  test('is had again from the token of the small one, as far as that goes', async () => {
    const again = json<Run>(await runCli('replay', run.shrunk.token, '--json'));
    expect(again.steps.slice(0, run.shrunk.steps.length)).toEqual(run.shrunk.steps);
    expect(again.violations.map(({ step }) => step)).toContain(run.shrunk.steps.length);
  });

  test('is the first failing schedule of the search, with how far it got', async () => {
    expect(run).toMatchObject({
      scenario: 'stale-poll',
      integration: 'naive-update',
      database: 'pglite',
      verdict: 'fail',
      runs: run.seed,
    });
    expect(run.violations.map(({ invariant }) => invariant)).toContain('rank-never-drops');
    expect(run.schedulesPerSecond).toBeGreaterThan(0);
    expect(run.steps.map(({ index }) => index)).toEqual(run.steps.map((_step, at) => at + 1));
  });

  test('is had again from its token, step for step', async () => {
    const { runs: _runs, schedulesPerSecond: _speed, shrunk: _shrunk, ...first } = run;
    const again = await runCli('replay', run.token, '--json');
    expect(again.code).toBe(1);
    expect(first).toMatchObject(json<Run>(again));
  });

  test('is had again from its seed', async () => {
    const same = ['stale-poll', '--integration', 'naive-update', '--seed', String(run.seed)];
    const again = await runCli('run', ...same, '--json');
    expect(json<Run>(again).steps).toEqual(run.steps);
  });

  test('as a diagram goes to stdout alone, fenced for an issue; the words around it to stderr', async () => {
    const { stdout, stderr, code } = await runCli('replay', run.token, '--mermaid');
    expect(stdout).toMatch(/^```mermaid\nsequenceDiagram\n[^]*\n```\n$/);
    expect(stdout.match(/```/g)).toHaveLength(2);
    expect(stderr).toContain('rank-never-drops');
    expect(code).toBe(1);
  });
});

describe('a search that finds nothing', () => {
  test('ends with 0 and one line of what was covered', async () => {
    const { stdout, code } = await runCli('fuzz', 'stale-poll', '--runs', '5', '--seed', '100');
    expect(stdout).toMatch(/^stale-poll · integration guarded · seed 100 .*\(seeds 100 to 104\)\n/);
    expect(stdout).toMatch(/✓ pass: no invariant was violated in 5 of 5 schedules/);
    expect(code).toBe(0);
  });

  test('of all scenarios runs each of them', async () => {
    const result = json<Run & { runs: number; complete: boolean }>(
      await runCli('fuzz', 'all', '--runs', '1', '--json'),
    );
    const possible = scenarios.filter(({ needs }) => needs === undefined);
    expect(result).toMatchObject({ verdict: 'pass', runs: possible.length, complete: true });
  });
});

test('without faults none is put in', async () => {
  const run = json<Run>(
    await runCli('run', 'everything', '--seed', '3', '--faults', '0', '--json'),
  );
  expect(run.steps.filter(({ fault }) => fault !== null)).toEqual([]);
});

describe('wrong input is answered by one line that names it and what would do', () => {
  const token = 'sume1-AAAA';
  test.each([
    [['run', 'stale-pol'], /no scenario is called "stale-pol"; did you mean "stale-poll"\?/],
    [['run', 'kubernetes'], /no scenario is called "kubernetes".*"list"/],
    [['fuzz', 'evrything'], /did you mean "everything"\?/],
    [
      ['run', '--integration', 'guardet'],
      /no integration is called "guardet"; did you mean "guarded"\?/,
    ],
    [['fuz'], /there is no command "fuz"; did you mean "fuzz"\?/],
    [['dance'], /there is no command "dance"; the commands are list, run, fuzz, .*replay/],
    [['run', '--sed', '1'], /there is no option "--sed" for run; did you mean "--seed"\?/],
    [['list', '--seed', '1'], /there is no option "--seed" for list/],
    [['run', '--seed', '-1'], /--seed takes a whole number.*"-1"/],
    [['run', '--seed', '1.5'], /"1.5"/],
    [['run', '--seed', '1e99'], /"1e99"/],
    [['run', '--seed', ''], /""/],
    [['run', '--seed'], /--seed/],
    [['run', '--seed', '1', '--seed', '2'], /--seed is given twice/],
    [['run', '--faults', 'many'], /--faults takes a whole number.*"many"/],
    [['fuzz', '--runs', '0'], /--runs takes a whole number from 1 .*"0"/],
    [['fuzz', '--seed', '4294967295', '--runs', '2'], /passes the largest seed/],
    [['run', '--json', '--mermaid'], /--json.*--mermaid|--mermaid.*--json/],
    [['run', '--json', '--full'], /--full/],
    [['run', 'stale-poll', 'orphan'], /arguments/],
    [['run', '--database', 'postgress'], /"postgress" is neither; did you mean "postgres"\?/],
    [['fuzz', '--database', 'pglite', '--database-url', 'postgres://h/d'], /runs on pglite/],
    [['run', '--database-url', 'mysql://h/d'], /begin with postgres:/],
    [['explore', 'open-transaction'], /one connection; add --database postgres/],
    [['fuzz', 'open-transaction'], /one connection; add --database postgres/],
    [['replay'], /token/],
    [['replay', 'nonsense'], /"nonsense" is no token/],
    [['replay', 'sume9-AAAA'], /format 9/],
    [['replay', token], /damaged/],
    [['replay', 'sume1-one', 'half'], /Join its parts/],
    [['run', 'all'], /only fuzz takes "all"/],
    [['replay', token, '--seed', '1'], /there is no option "--seed" for replay/],
  ])('%j', async (args, message) => {
    const { error, stdout } = await runCli(...args);
    expect(error).toBeInstanceOf(UsageError);
    const said = (error as UsageError).message;
    expect(said).toMatch(message);
    expect(said).not.toContain('\n');
    expect(stdout).toBe('');
  });

  test('whatever characters it is made of', async () => {
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: 'binary', minLength: 1 }), async (name) => {
        fc.pre(!name.startsWith('-') && !scenarios.some((scenario) => scenario.name === name));
        const { error } = await runCli('run', name);
        expect(error).toBeInstanceOf(UsageError);
        expect((error as UsageError).message).not.toMatch(/\p{C}/u);
      }),
    );
  });

  test('a token with any character changed is damaged, or of no format, and never runs', async () => {
    const { token: whole } = json<Run>(await runCli('run', 'stale-poll', '--seed', '1', '--json'));
    await fc.assert(
      fc.asyncProperty(
        fc.nat({ max: whole.length - 1 }),
        fc.constantFrom('a', 'b', 'Z', '0', '9', '-', '_', ' ', '.'),
        async (at, character) => {
          const changed = whole.slice(0, at) + character + whole.slice(at + 1);
          fc.pre(changed.trim() !== whole);
          const { error } = await runCli('replay', changed);
          expect(error).toBeInstanceOf(UsageError);
        },
      ),
    );
  });
});

describe('help', () => {
  test.each([
    [['--help'], 'sume-sim fuzz stale-poll --integration naive-update --runs 200'],
    [['run', '--help'], 'sume-sim run early-webhook'],
    [['fuzz', '--help'], 'Ctrl-C'],
    [['replay', '--help'], 'token'],
    [[], 'Examples'],
  ])('%j shows examples', async (args, text) => {
    const { stdout, error } = await runCli(...args);
    expect(error).toBeNull();
    expect(stdout).toContain(text);
  });

  test('the version is the package’s', async () => {
    expect((await runCli('--version')).stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
  });
});
