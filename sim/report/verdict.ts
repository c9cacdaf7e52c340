import type { Run } from '../world/run.ts';
import { plainPalette, type Palette } from './palette.ts';
import { paragraph } from './paragraph.ts';
import { visible } from './visible.ts';
import { whyItMatters } from './why-it-matters.ts';

export interface VerdictOptions {
  /** Cells in a line. */
  width: number;
  /** Colours; none by default. */
  palette?: Palette;
  /** The command that replays a token, ready to be pasted into a shell. */
  replayCommand: (token: string) => string;
  /** More lines on a failure, before the command that replays it. */
  explanation?: readonly string[];
}

/**
 * The first line of a report: which scenario, integration, seed and database. With these alone the run can
 * be had again, even where the rest of the output was lost.
 */
export function headline(
  run: Pick<Run, 'scenario' | 'integration' | 'seed' | 'database'>,
  palette: Palette = plainPalette,
): string {
  const seed = run.seed === null ? 'no seed (a given order)' : `seed ${run.seed}`;
  const rest = ` · integration ${visible(run.integration)} · ${seed} · database ${run.database}`;
  return palette('heading', visible(run.scenario)) + rest;
}

/**
 * The end of a report. For a pass one sentence. For a failure the sentence, then for every violated
 * invariant what happened and why it matters, and as the last line the exact command that replays it. For a
 * run that could not be judged the reason, and the same last line.
 */
export function verdict(run: Run, options: VerdictOptions): string {
  const palette = options.palette ?? plainPalette;
  const steps = `${run.steps.length} ${run.steps.length === 1 ? 'step' : 'steps'}`;
  if (run.verdict === 'pass') {
    return palette('good', `✓ pass: no invariant was violated in ${steps}, and all converged.`);
  }
  const lines: string[] = [];
  if (run.verdict === 'error') {
    const code = run.error?.code ?? 'unknown';
    lines.push(palette('bad', `? error: the run could not be judged (${visible(code)}).`));
    lines.push(
      ...paragraph('What happened', run.error?.message ?? 'No reason was given.', options),
    );
  } else {
    const names = [...new Set(run.violations.map((violation) => violation.invariant))];
    const at = run.violations[0]?.step ?? run.steps.length;
    lines.push(
      palette(
        'bad',
        `✗ fail: ${names.join(' and ')} violated at step ${at} of ${run.steps.length}.`,
      ),
    );
    for (const name of names) {
      for (const violation of run.violations.filter(({ invariant }) => invariant === name)) {
        lines.push(...paragraph('What happened', violation.message, options));
      }
      lines.push(...paragraph('Why it matters', whyItMatters[name], options));
    }
  }
  const { explanation = [], replayCommand } = options;
  return [
    ...lines,
    ...explanation,
    '',
    run.error?.code === 'nondeterminism'
      ? 'To run it again, which may take another course each time:'
      : 'To see this very order again:',
    replayCommand(run.token),
  ].join('\n');
}
