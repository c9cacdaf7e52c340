import type { Task } from '../engine/task.ts';
import type { Change, Step } from '../engine/trace.ts';
import { canonical } from './canonical.ts';
import { TERMINAL, type Evidence, type HandledDelivery } from './evidence.ts';
import type { Untold, WatchedTables } from './integration.ts';
import { applyChange, createRows, roleOf, type Row, type Rows } from './rows.ts';
import type { InvariantName, Violation } from './run.ts';

/** What Sume holds about one job: the truth. */
export interface TrueJob {
  id: string;
  status: string;
  /** What a completed job's result is; null for any other. */
  result: unknown;
}

/**
 * Judges committed state after every step and once more in the end. It shares no code with what it judges,
 * knows its rows only from the audit, and Sume's side only from Sume.
 */
export interface Checker {
  readonly rows: Rows;
  readonly violations: readonly Violation[];
  afterStep(step: Step, task: Task, changes: readonly Change[]): void;
  /** All is quiet, faults have stopped, and everybody had their chance. */
  atTheEnd(end: TheEnd): void;
  /** Whether every registered row has arrived where Sume says, with its effect. */
  hasConverged(truth: readonly TrueJob[]): boolean;
}

export interface TheEnd {
  /** Index of the last step. */
  lastStep: number;
  truth: readonly TrueJob[];
  submits: readonly SubmitOutcome[];
  /** False if steps were still to be taken when the bound was reached. */
  cameToRest: boolean;
}

/** How one submit ended. */
export interface SubmitOutcome {
  key: string;
  returned: boolean;
  abandoned: boolean;
}

const RANK: Readonly<Record<string, number>> = { queued: 0, processing: 1 };
const rankOf = (row: Row): number => {
  const status = String(row['status']);
  return TERMINAL.has(status) ? 2 : (RANK[status] ?? 0);
};

export function createChecker(
  tables: WatchedTables,
  evidence: Evidence,
  untold: readonly Untold[] = [],
): Checker {
  const rows = createRows();
  const violations: Violation[] = [];
  const said = new Set<string>();
  /** The end that reached committed state first, as a row or as a parked event. */
  const firstDurable = new Map<string, string>();

  // One break is one violation, however many later steps still see it.
  const accuse = (invariant: InvariantName, jobId: string, step: number, message: string): void => {
    const key = `${invariant} ${jobId}`;
    if (said.has(key)) return;
    said.add(key);
    violations.push({ invariant, message, step });
  };

  const judgeJobChange = (step: number, { key, before, after }: Change): void => {
    if (before !== null && after === null) {
      accuse('rank-never-drops', key, step, `The row of ${key} (${words(before)}) was deleted.`);
      return;
    }
    if (after === null) return;
    const status = String(after['status']);
    if (before === null && !evidence.issued.has(key)) {
      accuse('no-invention', key, step, `A row was made for ${key}, an id that Sume never issued.`);
    }
    if (
      status !== before?.['status'] &&
      status !== 'queued' &&
      !evidence.told.get(key)?.has(status)
    ) {
      accuse(
        'no-invention',
        key,
        step,
        `The row of ${key} was set to ${status}, which Sume never reported for that job.`,
      );
    }
    if (before === null) return;
    if (rankOf(after) < rankOf(before)) {
      accuse(
        'rank-never-drops',
        key,
        step,
        `The row of ${key} went back from ${words(before)} to ${words(after)}.`,
      );
    } else if (rankOf(before) === 2) {
      if (before['status'] !== after['status']) {
        accuse(
          'terminal-never-changes',
          key,
          step,
          `The row of ${key} had ended as ${words(before)} and was changed to ${words(after)}.`,
        );
      } else if (
        canonical(before['result']) !== 'null' &&
        canonical(before['result']) !== canonical(after['result'])
      ) {
        accuse(
          'terminal-never-changes',
          key,
          step,
          `The result of ${key} was overwritten after its end.`,
        );
      }
    }
  };

  const judgeParkedChange = (step: number, { key, before, after }: Change): void => {
    if (before === null || after === null) return;
    for (const column of ['event', 'status', 'body']) {
      if (canonical(before[column]) !== canonical(after[column])) {
        accuse(
          'parked-never-replaced',
          key,
          step,
          `The parked event of ${key} (${words(before)}) was replaced by another (${words(after)}).`,
        );
        return;
      }
    }
  };

  const judgeDelivery = (delivery: HandledDelivery, step: number): void => {
    const { answer, jobId, event } = delivery;
    if (delivery.judged || (answer === null && delivery.threw === null)) return;
    delivery.judged = true;
    const accepted = answer !== null && answer.status >= 200 && answer.status < 300;
    if (accepted || !delivery.genuine || !delivery.inTolerance || delivery.task.fault !== null)
      return;
    const saw = answer === null ? `it threw: ${delivery.threw}` : `the answer was ${answer.status}`;
    accuse(
      'genuine-is-accepted',
      jobId,
      step,
      `A genuine ${event} for ${jobId} was refused: ${saw}.`,
    );
  };

  /** The row is read each time: "200, still queued" is a loss even if something mends it later. */
  const judgeAcknowledged = (step: number): void => {
    for (const { genuine, answer, status, jobId, event } of evidence.deliveries) {
      if (!genuine || status === null || answer === null) continue;
      if (answer.status < 200 || answer.status >= 300) continue;
      const row = rows.jobs.get(jobId);
      if ((row !== undefined && rankOf(row) === 2) || rows.parked.has(jobId)) continue;
      // Until the row is there, it may lie where nobody lets us look.
      if (row === undefined && untold.includes('parked')) continue;
      accuse(
        'ack-is-durable',
        jobId,
        step,
        `${event} for ${jobId} was answered ${answer.status}, but ` +
          (row === undefined
            ? 'no row has it and nothing is parked.'
            : `its row is still ${words(row)}.`),
      );
    }
  };

  const isThere = ({ id, status, result }: TrueJob, row: Row): boolean => {
    const expected = evidence.contradicted.has(id) ? (firstDurable.get(id) ?? status) : status;
    if (row['status'] !== expected) return false;
    return (
      expected !== 'completed' ||
      status !== 'completed' ||
      // Whoever does not say what the result is has nothing to be compared.
      !('result' in row) ||
      canonical(row['result']) === canonical(storable(result))
    );
  };

  return {
    rows,
    violations,

    afterStep: ({ index }, task, changes) => {
      const disguised = evidence.deliveries.find(
        (delivery) => delivery.task === task && delivery.disguise !== null,
      );
      for (const change of changes) {
        const role = roleOf(change, tables);
        if (role === null) continue;
        if (disguised !== undefined) {
          accuse(
            'unsigned-is-inert',
            change.key,
            index,
            `A webhook that was ${disguised.disguise} changed ${change.table} of ${change.key}.`,
          );
        }
        if (role === 'jobs') judgeJobChange(index, change);
        if (role === 'parked') judgeParkedChange(index, change);
        applyChange(rows, role, change);
        const { after, key } = change;
        if (role !== 'effects' && after !== null && TERMINAL.has(String(after['status']))) {
          if (!firstDurable.has(key)) firstDurable.set(key, String(after['status']));
        }
        if (role === 'effects' && (rows.effects.get(key) ?? 0) > 1) {
          accuse(
            'effect-once',
            key,
            index,
            `The end of ${key} took effect ${rows.effects.get(key)} times.`,
          );
        }
      }
      if (changes.length > 0) {
        for (const [jobId, parked] of rows.parked) {
          const row = rows.jobs.get(jobId);
          if (row === undefined) continue;
          accuse(
            'parked-drains',
            jobId,
            index,
            `The row of ${jobId} (${words(row)}) was committed beside its parked event (${words(parked)}).`,
          );
        }
      }
      for (const jobId of evidence.earlyReads.splice(0)) {
        accuse(
          'result-only-when-ready',
          jobId,
          index,
          `The result of ${jobId} was read before Sume had said that there is one.`,
        );
      }
      for (const delivery of evidence.deliveries) judgeDelivery(delivery, index);
      judgeAcknowledged(index);
    },

    hasConverged: (truth) =>
      truth.every((job) => {
        const row = rows.jobs.get(job.id);
        return row === undefined || isThere(job, row);
      }),

    atTheEnd: ({ lastStep, truth, submits, cameToRest }) => {
      if (!cameToRest) {
        accuse(
          'converges',
          'the world',
          lastStep,
          'Faults had stopped, and still it never came to rest: something goes on for ever.',
        );
      }
      for (const job of truth) {
        const row = rows.jobs.get(job.id);
        if (row === undefined) continue;
        if (!isThere(job, row) && !untold.includes('sweep')) {
          const wanted = evidence.contradicted.has(job.id)
            ? (firstDurable.get(job.id) ?? job.status)
            : job.status;
          accuse(
            'converges',
            job.id,
            lastStep,
            row['status'] === wanted
              ? `In the end the row of ${job.id} has ${words(row)}, but not the result that Sume has.`
              : `In the end the row of ${job.id} says ${words(row)}, and Sume says ${wanted}.`,
          );
        }
        if (tables.effects !== null && rankOf(row) === 2 && (rows.effects.get(job.id) ?? 0) === 0) {
          accuse(
            'effect-once',
            job.id,
            lastStep,
            `${job.id} ended as ${words(row)}, and its effect never happened.`,
          );
        }
      }
      for (const { key, returned, abandoned } of submits) {
        const owned = [...evidence.issued].filter(([, owner]) => owner === key).map(([id]) => id);
        if (owned.length > 1) {
          accuse(
            'no-lost-job',
            key,
            lastStep,
            `The submit ${key} made ${owned.length} jobs at Sume: ${owned.join(', ')}.`,
          );
        }
        if (abandoned) continue;
        if (!returned) {
          accuse(
            'no-lost-job',
            key,
            lastStep,
            `The submit ${key} never returned, although faults had stopped.`,
          );
        }
        for (const jobId of owned) {
          if (rows.jobs.has(jobId) || rows.parked.has(jobId)) continue;
          accuse(
            'no-lost-job',
            key,
            lastStep,
            `Sume runs ${jobId} for the submit ${key}, and no row knows it.`,
          );
        }
      }
    },
  };
}

function words(row: Row): string {
  return String(row['status']);
}

/** What `jsonb` can hold of a result: NUL and lone surrogates become U+FFFD, in keys too. */
function storable(value: unknown): unknown {
  if (typeof value === 'string') return value.replace(/[\0\p{Surrogate}]/gu, '\ufffd');
  if (Array.isArray(value)) return value.map(storable);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [storable(key), storable(inner)]),
  );
}
