import { hrtimeNow } from 'tinybench';

export interface Interleaved {
  /** The median over the pairs of `subject / baseline`. */
  ratio: number;
  /** Medians of one batch, in milliseconds. */
  subjectMs: number;
  baselineMs: number;
}

/**
 * Times batches of two kinds of work in turn and compares each with its neighbour, so that a machine that
 * grows slower or faster meanwhile does so for both. Who goes first alternates, since the first of a pair
 * may find the caches cold. `prepare` runs before each pair and is not timed; its number is passed on. The
 * first `warmup` pairs are thrown away.
 */
export async function interleave(options: {
  pairs: number;
  warmup: number;
  prepare: (pair: number) => Promise<void>;
  subject: (pair: number) => Promise<void>;
  baseline: (pair: number) => Promise<void>;
}): Promise<Interleaved> {
  const subjects: number[] = [];
  const baselines: number[] = [];
  const ratios: number[] = [];
  for (let pair = 0; pair < options.warmup + options.pairs; pair += 1) {
    await options.prepare(pair);
    let subjectMs: number;
    let baselineMs: number;
    if (pair % 2 === 0) {
      subjectMs = await timed(() => options.subject(pair));
      baselineMs = await timed(() => options.baseline(pair));
    } else {
      baselineMs = await timed(() => options.baseline(pair));
      subjectMs = await timed(() => options.subject(pair));
    }
    if (pair < options.warmup) continue;
    subjects.push(subjectMs);
    baselines.push(baselineMs);
    ratios.push(subjectMs / baselineMs);
  }
  return { ratio: median(ratios), subjectMs: median(subjects), baselineMs: median(baselines) };
}

async function timed(work: () => Promise<void>): Promise<number> {
  const start = hrtimeNow();
  await work();
  return hrtimeNow() - start;
}

function median(values: number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  const upper = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? Number.NaN) + upper) / 2;
}
