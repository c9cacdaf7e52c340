import { Presets, SingleBar } from 'cli-progress';
import type { ConsoleOutput } from './console-output.ts';

/** How far a long command is. */
export interface Progress {
  /** Schedules done, and what is being run. */
  update(done: number, text: string): void;
  stop(): void;
}

/**
 * A bar on stderr if that is a terminal, and nothing at all otherwise: logs are not for bars. Where nobody can
 * know the total, a count.
 */
export function startProgress(stderr: ConsoleOutput, total: number | null): Progress {
  if (!stderr.isTerminal) return { update: () => {}, stop: () => {} };
  const bar = new SingleBar(
    {
      format: total === null ? '{value} {text}' : '{bar} {value}/{total} {text}',
      barsize: 30,
      hideCursor: true,
      clearOnComplete: true,
      // Ctrl-C is the command's own business: it ends with a summary.
      gracefulExit: false,
      stream: process.stderr,
    },
    Presets.shades_classic,
  );
  bar.start(total ?? 0, 0, { text: '' });
  return {
    update: (done, text) => bar.update(done, { text }),
    stop: () => bar.stop(),
  };
}
