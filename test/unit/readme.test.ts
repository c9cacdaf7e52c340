import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { describePostgres, openPostgres } from '../setup/databases.ts';
import { blocksOf, type Block } from './readme/blocks.ts';
import { withSources } from './readme/with-sources.ts';
import { runCli } from './sim/cli/run-cli.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const readme = await readFile(join(root, 'README.md'), 'utf8');
const blocks = blocksOf(readme);

test('opens with the two commands that a newcomer types', () => {
  expect(blocks[0]).toMatchObject({
    language: 'sh',
    text: 'npm ci && npm run sim -- run early-webhook\nnpm ci && npm test\n',
  });
});

let folder: string;
beforeAll(async () => {
  // Within the repository, so that the packages which the code imports are found.
  folder = await mkdtemp(join(root, 'node_modules', '.sume-sim-readme-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** Runs a block as it stands, but for where its imports come from. Fails if it throws. */
async function runProgram({ text, line }: Block, env: NodeJS.ProcessEnv): Promise<string> {
  const file = join(folder, `line-${line}.mts`);
  // A program of the README may leave connections open, as a service does.
  await writeFile(file, `${withSources(text)}\nprocess.exit(0);\n`);
  const { stdout } = await promisify(execFile)(process.execPath, ['--import', 'tsx', file], {
    cwd: root,
    env: { ...process.env, PGLITE_TEMPLATE: inject('pgliteTemplate'), ...env },
  });
  return stdout;
}

describe('what the commands print', () => {
  const consoles = blocks.filter(({ language }) => language === 'console');

  test('is shown for a race that is survived, for one that is lost, and for one that only a server has', () => {
    expect(consoles).toHaveLength(3);
  });

  const onServer = ({ text }: Block): boolean => text.includes('--database postgres');

  test.each(consoles.filter((block) => !onServer(block)))('$text', printsWhatIsShown);

  describePostgres('on PostgreSQL', () => {
    test.each(consoles.filter(onServer))('$text', printsWhatIsShown);
  });

  async function printsWhatIsShown({ text }: Block): Promise<void> {
    const command = text.split('\n')[0] ?? '';
    expect(command).toMatch(/^\$ npm run sim -- /);
    const args = command.replace('$ npm run sim -- ', '').split(' ');
    const { stdout } = await runCli(...args);
    await isShown(text, `${command}\n${stdout}`);
  }

  /** The text that follows a program is what it prints. */
  const printing = blocks.flatMap((block, index) =>
    block.language === 'text'
      ? [{ program: blocks[index - 1], line: block.line, shown: block }]
      : [],
  );

  test('is shown for an integration that is checked with the kit', () => {
    expect(printing.map(({ program }) => program?.language)).toEqual(['ts']);
  });

  test.each(printing)('or the program before line $line', async ({ program, shown }) => {
    if (program === undefined) throw new Error('No program stands before the text.');
    await isShown(`\`\`\`text\n${shown.text}`, `\`\`\`text\n${await runProgram(program, {})}`);
  });

  async function isShown(shown: string, printed: string): Promise<void> {
    // Run with UPDATE_README=1 to write down what the commands print now.
    if (process.env['UPDATE_README'] === '1') {
      const path = join(root, 'README.md');
      const current = await readFile(path, 'utf8');
      await writeFile(
        path,
        current.replace(shown, () => printed),
      );
      return;
    }
    const advice =
      'The README shows other output than the command. UPDATE_README=1 writes it anew.';
    expect(shown, advice).toBe(printed);
  }
});

describe('the code runs', () => {
  // One that is followed by what it prints is run above.
  const programs = blocks.filter(
    ({ language }, index) => language === 'ts' && blocks[index + 1]?.language !== 'text',
  );

  test.each(programs.filter(({ text }) => !text.includes("'pg'")))(
    'at line $line',
    async (block) => {
      await runProgram(block, {});
    },
  );

  describePostgres('on PostgreSQL', () => {
    test.each(programs.filter(({ text }) => text.includes("'pg'")))(
      'at line $line',
      async (block) => {
        const { url, close } = await openPostgres();
        try {
          await runProgram(block, { DATABASE_URL: url });
        } finally {
          await close();
        }
      },
    );
  });
});
