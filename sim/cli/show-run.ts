import { columns } from '../report/columns.ts';
import { mermaid } from '../report/mermaid.ts';
import { headline, verdict } from '../report/verdict.ts';
import type { Run } from '../world/run.ts';
import { ansiPalette } from './ansi-palette.ts';
import type { Context } from './context.ts';
import { exitCodeOf } from './exit-code.ts';
import { notChecked } from './not-checked.ts';
import type { ReportOptions } from './run-options.ts';

export interface Remarks {
  /** A remark for the first line: how the schedule was found. */
  headline?: string;
  /** A second line. */
  subline?: string;
  /** More fields for the JSON object. */
  fields?: Record<string, unknown>;
  /** More lines on a failure, for a person. */
  explanation?: readonly string[];
}

/**
 * Prints one run in the form asked for and ends the command with the exit code of its verdict. The human form
 * is the first line, the columns, and the verdict, whose last line replays a failure. With `--mermaid` the
 * words around the diagram go to stderr.
 */
export async function showRun(
  run: Run,
  options: ReportOptions,
  context: Context,
  remarks: Remarks = {},
): Promise<void> {
  context.finish(exitCodeOf(run.verdict));
  for (const { to, text } of printed(run, options, context, remarks)) await context[to].write(text);
}

/** One thing to write, and where to. */
export interface Printed {
  to: 'stdout' | 'stderr';
  text: string;
}

/** What `showRun` writes, in order. */
export function printed(
  run: Run,
  options: ReportOptions,
  context: Context,
  remarks: Remarks,
): Printed[] {
  if (options.json === true) {
    const { unchecked } = context;
    const fields = {
      ...runFields(run),
      ...(unchecked === undefined ? {} : { unchecked }),
      ...remarks.fields,
    };
    return [{ to: 'stdout', text: JSON.stringify(fields) }];
  }
  const to = options.mermaid === true ? 'stderr' : 'stdout';
  const { width, colour } = context[to];
  const palette = ansiPalette(colour);
  const remark = remarks.headline === undefined ? '' : ` (${remarks.headline})`;
  const drawing =
    options.mermaid === true
      ? ['```mermaid', mermaid(run), '```'].join('\n')
      : `\n${columns(run, { width: context.stdout.width, palette, full: options.full === true })}\n`;
  const end = verdict(run, {
    width,
    palette,
    replayCommand: context.replayCommand,
    explanation: remarks.explanation ?? [],
  });
  return [
    { to, text: headline(run, palette) + remark },
    ...(remarks.subline === undefined ? [] : [{ to, text: remarks.subline } as const]),
    { to: 'stdout', text: drawing },
    { to, text: end },
    ...(run.verdict === 'pass'
      ? notChecked(context, { width, palette }).map((text) => ({ to, text }) as const)
      : []),
  ];
}

/** A run as JSON gives it: every field of the command line's contract, whatever the verdict. */
function runFields(run: Run): Record<string, unknown> {
  const { scenario, integration, database, seed, violations, error, loop, actors, steps, token } =
    run;
  const judged = { scenario, integration, database, seed, verdict: run.verdict, violations };
  const why = {
    ...(error === undefined ? {} : { error }),
    ...(loop === undefined ? {} : { loop }),
  };
  return { ...judged, ...why, actors, steps, token };
}
