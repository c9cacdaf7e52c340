/** One activity of an actor. It belongs to a process, which may crash, or to none: Sume and the adversary do not. */
export interface Task {
  /** Unique in its run and stable across runs: `poll/job_a/1`. */
  readonly name: string;
  /** How many tasks were started before it. */
  readonly number: number;
  /** The lane it is drawn in. */
  readonly actor: string;
  readonly process: Process | null;
  /** Which life of its process it belongs to. */
  readonly life: number;
  state: 'running' | 'returned' | 'threw' | 'crashed';
  /** What it threw, once it has. */
  error: unknown;
  /** The fault that was put into one of its own steps last, if any was. */
  fault: string | null;
  /** The label of its last step that was taken. */
  lastLabel: string | null;
}

/** Something that can crash: its tasks end where they wait, its memory is gone, and it starts again. */
export interface Process {
  readonly name: string;
  /** 1 at first, one more after every crash. */
  life: number;
}

/** True once its process has crashed: nothing that it asks for happens any more, also in the background. */
export function isDead(task: Task): boolean {
  return task.state === 'crashed' || (task.process !== null && task.process.life !== task.life);
}
