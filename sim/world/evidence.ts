import type { Touch } from '../engine/footprint.ts';
import type { Task } from '../engine/task.ts';

/** What passed between Sume and the integration: what it could know, and what it said. */
export interface Evidence {
  /** Ids that Sume has issued, with the key of the submit that caused them. */
  readonly issued: Map<string, string>;
  /** Per job, the statuses that an answer or a genuine event brought to the integration. */
  readonly told: Map<string, Set<string>>;
  /** Jobs whose result it may read: it was told that they ended, or `result_ready`. */
  readonly ready: Set<string>;
  /** What each task heard itself, by the names of what it touches. */
  readonly heard: Map<Task, Set<string>>;
  /** Reads of a result before that, not yet reported. */
  readonly earlyReads: string[];
  readonly deliveries: HandledDelivery[];
  /** Notes what the step under way touches, for the search that covers every order. */
  readonly touch: (resource: string, how: Touch) => void;
  /** Jobs for which a contradictory terminal event went out. */
  readonly contradicted: Set<string>;
}

/** One arrival of a webhook at the web process. */
export interface HandledDelivery {
  readonly task: Task;
  readonly jobId: string;
  readonly event: string;
  /** The status that the event stands for; null for an event of an unknown type. */
  readonly status: string | null;
  /** Whether Sume signed it, lately by the web process's clock, over these bytes. */
  readonly genuine: boolean;
  /** Why it is not, in a word; null if it is. */
  readonly disguise: string | null;
  /** What the handler answered; null while it has not, and for ever if its process crashed. */
  answer: { status: number; body: string } | null;
  /** Set when the handler threw instead of answering. */
  threw: string | null;
  /** Whether the clock of the web process was still in tolerance when it answered. */
  inTolerance: boolean;
  judged: boolean;
}

export function createEvidence(touch: Evidence['touch']): Evidence {
  return {
    touch,
    issued: new Map(),
    told: new Map(),
    ready: new Set(),
    heard: new Map(),
    earlyReads: [],
    deliveries: [],
    contradicted: new Set(),
  };
}

/** Statuses that end a job. The checker's own list: sharing the core's would hide a mistake in both. */
export const TERMINAL: ReadonlySet<string> = new Set([
  'completed',
  'failed',
  'canceled',
  'expired',
]);

/** A task of the integration learnt that the job had this status. */
export function tell(evidence: Evidence, task: Task, jobId: string, status: string): void {
  const known = evidence.told.get(jobId);
  if (known === undefined) evidence.told.set(jobId, new Set([status]));
  else known.add(status);
  hear(evidence, task, saidOf(jobId, status));
  if (TERMINAL.has(status)) getReady(evidence, task, jobId);
}

/** Notes that a step of the task depends on whether Sume has said this of the job by then. */
export function dependOnSaid(evidence: Evidence, task: Task, jobId: string, status: string): void {
  // Queued always counts as said.
  if (status !== 'queued') dependOn(evidence, task, saidOf(jobId, status));
}

/** Notes that a step of the task depends on whether the job's result may be read by then. */
export function dependOnReady(evidence: Evidence, task: Task, jobId: string): void {
  dependOn(evidence, task, readinessOf(jobId));
}

/** A task that heard it itself has heard it in every order in which it comes to ask. */
function dependOn(evidence: Evidence, task: Task, news: string): void {
  if (evidence.heard.get(task)?.has(news) !== true) evidence.touch(news, 'read');
}

function hear(evidence: Evidence, task: Task, news: string): void {
  evidence.touch(news, 'add');
  const heard = evidence.heard.get(task);
  if (heard === undefined) evidence.heard.set(task, new Set([news]));
  else heard.add(news);
}

function getReady(evidence: Evidence, task: Task, jobId: string): void {
  evidence.ready.add(jobId);
  hear(evidence, task, readinessOf(jobId));
}

function saidOf(jobId: string, status: string): string {
  return `said:${jobId} ${status}`;
}

function readinessOf(jobId: string): string {
  return `ready:${jobId}`;
}

/** Reads what an answer of Sume tells about jobs: a status body, a whole job, a list, a submit. */
export function tellAnswer(evidence: Evidence, task: Task, answer: unknown): void {
  const data = asObject(asObject(answer)?.['data']);
  if (data === null) return;
  const entries = [
    data,
    asObject(data['job']),
    ...(Array.isArray(data['jobs']) ? data['jobs'].map(asObject) : []),
  ];
  for (const entry of entries) {
    if (entry === null) continue;
    const jobId = entry['job_id'] ?? entry['id'] ?? entry['request_id'];
    const status = entry['sume_status'] ?? entry['status'];
    if (typeof jobId !== 'string' || typeof status !== 'string') continue;
    tell(evidence, task, jobId, status.toLowerCase());
    if (entry['result_ready'] === true) getReady(evidence, task, jobId);
  }
}

function asObject(value: unknown): Record<string, unknown> | null {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : null;
}
