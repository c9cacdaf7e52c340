/** Sume's own words for where a job stands. */
export type JobStatus = 'queued' | 'processing' | TerminalStatus;

/** The words that end a job. `expired` has no webhook: only a poll or a sweep can find it. */
export type TerminalStatus = 'completed' | 'failed' | 'canceled' | 'expired';

/** A write may only raise it. All terminal statuses share the top, so the first of them wins. */
export type Rank = 0 | 1 | 2;

const RANKS: Readonly<Record<JobStatus, Rank>> = {
  queued: 0,
  processing: 1,
  completed: 2,
  failed: 2,
  canceled: 2,
  expired: 2,
};

/** The rank of a status: 0 queued, 1 processing, 2 terminal. */
export function rankOf(status: JobStatus): Rank {
  return RANKS[status];
}

/** Whether the status ends a job. */
export function isTerminal(status: JobStatus): status is TerminalStatus {
  return RANKS[status] === 2;
}

/** Whether the value is one of Sume's own status words, exactly as Sume spells it. */
export function isJobStatus(value: unknown): value is JobStatus {
  return typeof value === 'string' && Object.hasOwn(RANKS, value);
}

/** Words in the wild, folded to lower case, and the status that each one means. */
const ALIASES: ReadonlyMap<string, JobStatus> = new Map<string, JobStatus>([
  ['in_queue', 'queued'],
  ['in_progress', 'processing'],
  ['running', 'processing'],
  ['succeeded', 'completed'],
  ['success', 'completed'],
  ['cancelled', 'canceled'],
  ['error', 'failed'],
  ['errored', 'failed'],
]);

/**
 * Reads one status word, whatever its case, aliases included (`IN_QUEUE`, `succeeded`, `cancelled` …).
 * Null for a word that is not known: it must change nothing.
 */
export function readStatusWord(word: unknown): JobStatus | null {
  if (typeof word !== 'string') return null;
  const folded = word.toLowerCase();
  if (isJobStatus(folded)) return folded;
  return ALIASES.get(folded) ?? null;
}

/**
 * Finds the word in an answer of Sume's job routes (what its `data` holds) that says where the job stands:
 * `sume_status` before `job.status` before `status`. The first one that is there decides, even when it is not
 * known: falling through to a coarser alias would write a status that Sume did not mean.
 */
export function statusWordOf(answer: Readonly<Record<string, unknown>>): string | null {
  const job = answer['job'];
  const inner =
    typeof job === 'object' && job !== null ? (job as Record<string, unknown>)['status'] : null;
  for (const word of [answer['sume_status'], inner, answer['status']]) {
    if (typeof word === 'string') return word;
  }
  return null;
}
