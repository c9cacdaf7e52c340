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
  const { stdout, stderr } = context;
  context.finish(exitCodeOf(run.verdict));
  if (options.json === true) {
    const { unchecked } = context;
    await stdout.write(
      JSON.stringify({
        ...runFields(run),
        ...(unchecked === undefined ? {} : { unchecked }),
        ...remarks.fields,
      }),
    );
    return;
  }
  const target = options.mermaid === true ? stderr : stdout;
  const palette = ansiPalette(target.colour);
  const remark = remarks.headline === undefined ? '' : ` (${remarks.headline})`;
  await target.write(headline(run, palette) + remark);
  if (remarks.subline !== undefined) await target.write(remarks.subline);
  if (options.mermaid === true) {
    await stdout.write(['```mermaid', mermaid(run), '```'].join('\n'));
  } else {
    const drawing = columns(run, { width: stdout.width, palette, full: options.full === true });
    await stdout.write(`\n${drawing}\n`);
  }
  await target.write(
    verdict(run, {
      width: target.width,
      palette,
      replayCommand: context.replayCommand,
      explanation: remarks.explanation ?? [],
    }),
  );
  if (run.verdict !== 'pass') return;
  for (const line of notChecked(context, { width: target.width, palette }))
    await target.write(line);
}

/** A run as JSON gives it: every field of the command line's contract, whatever the verdict. */
function runFields(run: Run): Record<string, unknown> {
  const { scenario, integration, database, seed, violations, error, actors, steps, token } = run;
  const judged = { scenario, integration, database, seed, verdict: run.verdict, violations };
  return { ...judged, ...(error === undefined ? {} : { error }), actors, steps, token };
}
