import stringWidth from 'string-width';
import type { Command } from 'commander';
import { wrap } from '../../report/wrap.ts';
import { ansiPalette } from '../ansi-palette.ts';
import type { Context } from '../context.ts';
import { exitCode } from '../exit-code.ts';

interface Named {
  name: string;
  text: string;
}

/** `list`: everything that can be named on the command line, with one sentence each. */
export function addListCommand(program: Command, context: Context): void {
  program
    .command('list')
    .description('name the scenarios, integrations, invariants and faults')
    .option('--json', 'one JSON object on stdout, and nothing else there')
    .action(async (options: { json?: true }) => {
      const { scenarios } = await import('../../world/scenarios.ts');
      const { integrations } = await import('../../integrations/index.ts');
      const { invariants } = await import('../../world/invariants.ts');
      const { faults } = await import('../../world/faults.ts');
      const lists = { scenarios, integrations, invariants, faults };
      const { stdout } = context;
      if (options.json === true) {
        const named = Object.entries(lists).map(([title, things]) => [
          title,
          things.map(({ name, text }: Named) => ({ name, text })),
        ]);
        await stdout.write(JSON.stringify(Object.fromEntries(named)));
      } else {
        const palette = ansiPalette(stdout.colour);
        const parts = Object.entries(lists).map(([title, things]) =>
          [palette('heading', title), ...table(things, stdout.width)].join('\n'),
        );
        await stdout.write(parts.join('\n\n'));
      }
      context.finish(exitCode.pass);
    });
}

function table(things: readonly Named[], width: number): string[] {
  const cells = Math.max(...things.map(({ name }) => stringWidth(name))) + 4;
  return things.flatMap(({ name, text }) =>
    wrap(text, Math.max(width - cells, 30)).map((line, index) =>
      index === 0 ? `  ${name.padEnd(cells - 2)}${line}` : ' '.repeat(cells) + line,
    ),
  );
}
