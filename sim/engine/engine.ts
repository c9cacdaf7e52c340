import type { Call, Option, PendingStep } from './call.ts';
import type { Chooser, Deviation, Rule } from './chooser.ts';
import { type Attribution, type Context, createAttribution } from './context.ts';
import { BlockedTaskError, NestedCallError, UncontrolledAwaitError } from './errors.ts';
import {
  createFootprint,
  type Footprint,
  type FootprintRecorder,
  type Touch,
} from './footprint.ts';
import { createQuiet, type Quiet } from './quiet.ts';
import { isDead, type Process, type Task } from './task.ts';
import type { Change, Step } from './trace.ts';
import { setTraps } from './traps.ts';

export interface EngineOptions {
  /** Called after every step, when all is quiet: what changed, and what is to be said of it. */
  afterStep: (step: Step, pending: PendingStep) => Change[] | Promise<Change[]>;
  /** Names of the faults that may happen at all. */
  faults: ReadonlySet<string>;
  /** How many faults one schedule may hold, all kinds together. */
  faultBudget: number;
  /** A phase ends after so many steps even if more could follow. */
  maxSteps: number;
  /** False when the global `fetch` is the simulation's own. */
  trapFetch: boolean;
  /** Whether tasks of one process may share memory: then the order of any two steps of a process can matter. */
  sharesMemory?: boolean;
  /** What run-to-completion does with a step that was passed over. */
  rule: Rule;
}

/** What an exhaustive search has to know of a step beside its record. */
export interface Observation {
  readonly footprint: Footprint;
  /** Index in `steps` of the step during which it was asked for; −1 if before any. */
  readonly cause: number;
}

/** How a phase ended: nothing is left to do, the bound on steps was reached, or the chooser ended it. */
export type Rest = 'idle' | 'bounded' | 'ended';

/**
 * Runs real code one step at a time by owning every point where it waits.
 *
 * A port call adds a pending step and returns a promise. The engine picks one pending step, performs its
 * effect, resumes that one task, and waits until nothing moves; only then does it pick the next.
 */
export interface Engine {
  readonly quiet: Quiet;
  readonly steps: readonly Step[];
  /** The step that has begun and is not complete; null between two. */
  readonly underWay: Step | null;
  /** The task whose code was let go and is not known to be quiet, or whose step is being performed. */
  readonly busy: Task | null;
  /** Where the schedule left run-to-completion, in order. */
  readonly deviations: readonly Deviation[];
  readonly tasks: readonly Task[];
  /** Virtual milliseconds since the schedule began. */
  readonly nowMs: number;
  readonly faultsUsed: number;
  /** What each step touched, and the step during which it was asked for, in the order of `steps`. */
  readonly observations: readonly Observation[];
  /** Notes that the step under way touches a resource. */
  touch(resource: string, how: Touch): void;
  phase: Step['phase'];
  /** Starts a task, when the step under way is complete, or else when the engine runs next. */
  spawn(
    identity: { name: string; actor: string; process?: Process | null },
    body: () => Promise<unknown>,
  ): Task;
  /** A step of the task that calls. */
  step<T>(call: Call<T>): Promise<T>;
  /** Something only the adversary does, for as long as `enabled` says. Always a fault. */
  offer(task: Task, call: Omit<Call<null>, 'faults'> & { fault: string }): void;
  /** Lets the task go on by `body` while its own step is still being performed. */
  resume(task: Task, body: () => void): void;
  /** Runs `body` as the code of the calling task inside its step `within`. */
  inside<T>(task: Task, within: string, body: () => T): T;
  /**
   * What another task gives to the one that calls, which goes on with it when the giver is quiet: at any moment
   * one task runs.
   */
  handedOver<T>(work: Promise<T>): Promise<T>;
  /** Runs the platform's own work (a database's, say) that a task's code called, as nobody's. */
  outside<T>(body: () => T): T;
  /** The task whose code runs now. Throws outside one. */
  currentTask(): Task;
  /** Throws if the calling code runs inside a step's own effect: `what` would wait for itself. */
  refuseInside(what: string): void;
  /** Ends one task where it waits, for good. */
  end(task: Task): void;
  /** Ends every task of the process where it waits. */
  crash(process: Process): void;
  /** Runs steps until none is left. */
  run(chooser: Chooser): Promise<Rest>;
  /** Throws if a task that belongs to a process still waits although nothing is left to happen. */
  refuseBlocked(): void;
  /** Ends all that still waits, and takes the traps away. */
  dispose(): void;
}

/** Virtual time as a resource: a timer writes it, whoever looks at a clock reads it. */
const TIME = 'time';

export function createEngine(options: EngineOptions): Engine {
  const attribution: Attribution = createAttribution();
  const quiet = createQuiet();
  const steps: Step[] = [];
  const deviations: Deviation[] = [];
  const tasks: Task[] = [];
  const taskNames = new Set<string>();
  const labelCounts = new Map<string, number>();
  let pending: PendingStep[] = [];
  const passedOver = new WeakSet<PendingStep>();
  const offers: { option: Option; enabled: () => boolean }[] = [];
  let nowMs = 0;
  let faultsUsed = 0;
  let lastTask: Task | null = null;
  let lastLabel = '';
  let uncontrolled: UncontrolledAwaitError | null = null;
  // While an effect runs, no task's own code does, except code that the effect called back.
  let performing = false;
  /** What goes on once the step under way is complete. */
  const resuming: { task: Task; go: () => void }[] = [];
  const observations: Observation[] = [];
  let footprint: FootprintRecorder = createFootprint();
  let begun = 0;
  let underWay: Step | null = null;

  const removeTraps = setTraps({
    quiet,
    inTask: () => {
      const context = attribution.current();
      // Code of an earlier run may still be under way: it is not this one's.
      return context !== null && tasks.includes(context.task);
    },
    onUncontrolled: (what, where) => {
      uncontrolled ??= new UncontrolledAwaitError(
        attribution.current()?.task.name ?? '?',
        what,
        where,
      );
    },
    trapFetch: options.trapFetch,
  });

  /** Numbers a repeated name, so that every label is unique in its run. */
  const unique = (name: string): string => {
    const count = (labelCounts.get(name) ?? 0) + 1;
    labelCounts.set(name, count);
    return count === 1 ? name : `${name} #${count}`;
  };

  const engine: Engine = {
    quiet,
    steps,
    deviations,
    tasks,
    phase: 'safety',
    observations,
    touch: (resource, how) => {
      footprint.touch(resource, how);
    },
    get nowMs() {
      footprint.touch(TIME, 'read');
      return nowMs;
    },
    get faultsUsed() {
      return faultsUsed;
    },
    get underWay() {
      return underWay;
    },
    get busy() {
      const performed = performing ? tasks.find(({ name }) => name === underWay?.task) : undefined;
      return attribution.running?.task ?? performed ?? null;
    },

    spawn: ({ name, actor, process = null }, body) => {
      let taken = name;
      for (let suffix = 2; taskNames.has(taken); suffix += 1) taken = `${name}~${suffix}`;
      taskNames.add(taken);
      const task: Task = {
        name: taken,
        number: tasks.length,
        actor,
        process,
        life: process?.life ?? 0,
        state: 'running',
        error: null,
        fault: null,
        lastLabel: null,
      };
      tasks.push(task);
      touchMemory(task);
      const start = (): void => {
        attribution.run({ task, within: null }, body).then(
          () => {
            if (task.state === 'running') task.state = 'returned';
          },
          (error: unknown) => {
            if (task.state !== 'running') return;
            task.state = 'threw';
            task.error = error;
          },
        );
      };
      resuming.push({ task, go: start });
      return task;
    },

    step: <T>(call: Call<T>): Promise<T> => {
      const context = attribution.current();
      if (context === null)
        throw new Error(`The step "${call.name}" was asked for outside any task.`);
      const { task } = context;
      if (!tasks.includes(task)) return new Promise(() => {});
      if (performing && context.within === null) {
        uncontrolled ??= new UncontrolledAwaitError(
          task.name,
          `an await that no port made, before "${call.name}"`,
          null,
        );
      }
      return new Promise<T>((resolve, reject) => {
        // A task that crashed asks in vain: its promise stays open, and with it the code behind it.
        if (isDead(task)) return;
        const { signal } = call;
        if (signal?.aborted) {
          reject(signal.reason as Error);
          return;
        }
        const onAbort = (): void => {
          pending = pending.filter((other) => other !== step);
          // Whatever was due after it may now be due first.
          if (step.dueMs !== undefined && holdsUp(step)) footprint.touch(TIME, 'read');
          reject(signal?.reason as Error);
        };
        // When a time-out is due plays no part unless it goes off, or something waits for it to be gone:
        // then it is noted where it began. Else whatever is done in time would depend on all that is timed.
        if (call.afterMs !== undefined && call.guard !== true) footprint.touch(TIME, 'read');
        const step: PendingStep = {
          label: unique(`${task.name} ${call.name}`),
          task,
          call,
          since: begun,
          ...(call.afterMs === undefined ? {} : { dueMs: nowMs + call.afterMs }),
          askedIn: footprint,
          settle: (effect) => {
            signal?.removeEventListener('abort', onAbort);
            if ('error' in effect) reject(effect.error);
            else resolve(effect.value as T);
          },
        };
        signal?.addEventListener('abort', onAbort, { once: true });
        insert(step);
      });
    },

    offer: (task, { fault, ...call }) => {
      const step: PendingStep = {
        label: `${task.name} ${call.name}`,
        task,
        call,
        since: -1,
        askedIn: footprint,
        settle: () => {},
      };
      const option: Option = { label: step.label, pending: step, fault, perform: call.perform };
      offers.push({ option, enabled: call.enabled ?? (() => true) });
    },

    resume: (task, body) => {
      performing = false;
      attribution.running = { task, within: null };
      body();
    },

    inside: (task, within, body) => {
      performing = false;
      const context: Context = { task, within };
      const value = attribution.run(context, body);
      // Until the effect is complete: where nothing follows a task through its awaits, they are its own too.
      attribution.running = context;
      return value;
    },

    handedOver: <T>(work: Promise<T>): Promise<T> => {
      const task = engine.currentTask();
      return new Promise<T>((resolve, reject) => {
        work.then(
          (value) => resuming.push({ task, go: () => resolve(value) }),
          (error: Error) => resuming.push({ task, go: () => reject(error) }),
        );
      });
    },

    outside: (body) => attribution.outside(body),

    currentTask: () => {
      const context = attribution.current();
      if (context === null) throw new Error('No task runs.');
      return context.task;
    },

    refuseInside: (what) => {
      const context = attribution.current();
      if (context !== null && context.within !== null) {
        throw new NestedCallError(context.task.name, what, context.within);
      }
    },

    end: (task) => {
      task.state = 'crashed';
      pending = pending.filter((step) => step.task !== task);
    },

    crash: (process) => {
      process.life += 1;
      touchProcess(process.name, 'write');
      for (const task of tasks) {
        if (task.process === process && task.state === 'running') task.state = 'crashed';
      }
      pending = pending.filter((step) => !isDead(step.task));
    },

    run: async (chooser) => {
      await quiet.settled();
      await resumeAll();
      for (let taken = 0; ; taken += 1) {
        if (uncontrolled !== null) throw uncontrolled;
        const { choices, preferred } = optionsNow();
        if (preferred === null) return 'idle';
        if (taken >= options.maxSteps) return 'bounded';
        const option = chooser.choose(choices, preferred, lastLabel);
        if (option === null) return 'ended';
        if (option !== preferred) {
          deviations.push({ after: lastLabel, take: option.label });
          const leavesIt = option.pending.task !== preferred.pending.task;
          if (options.rule === 2 && leavesIt && option.pending.since >= 0) {
            passedOver.add(preferred.pending);
          }
        }
        await take(option);
      }
    },

    refuseBlocked: () => {
      const blocked = tasks.filter((task) => task.process !== null && task.state === 'running');
      if (blocked.length > 0) throw new BlockedTaskError(blocked);
    },

    dispose: () => {
      pending = [];
      for (const task of tasks) if (task.state === 'running') task.state = 'crashed';
      removeTraps();
    },
  };

  /**
   * What can happen next. Time stands still while anything else can: a timer that guards something in
   * flight (a time-out) goes off early only as the fault `delay`. A timer that begins something (a retry, a
   * sweep) may be taken at any moment, but never before one that is due earlier.
   */
  function optionsNow(): { choices: Option[]; preferred: Option | null } {
    const firstDueMs = pending.reduce(
      (earliest, step) => Math.min(earliest, step.dueMs ?? Infinity),
      Infinity,
    );
    for (const step of pending) {
      if (step.dueMs !== undefined && holdsUp(step)) step.askedIn.touch(TIME, 'read');
    }
    const ready = pending.filter(
      ({ call, dueMs }) =>
        (dueMs === undefined || dueMs <= firstDueMs) && (call.enabled?.() ?? true),
    );
    const othersWait = ready.some(({ dueMs }) => dueMs === undefined);
    const choices: Option[] = [];
    let preferred: Option | null = null;
    const prefer = (option: Option): void => {
      if (preferred === null || rank(option.pending) > rank(preferred.pending)) preferred = option;
    };
    for (const step of ready) {
      if (step.call.guard === true && othersWait) continue;
      const option: Option = {
        label: step.label,
        pending: step,
        fault: null,
        perform: step.call.perform,
      };
      choices.push(option);
      prefer(option);
    }
    if (engine.phase === 'safety' && faultsUsed < options.faultBudget) {
      for (const step of ready) {
        if (step.call.guard === true && othersWait) {
          addFault(choices, step, 'delay', step.call.perform);
        }
        for (const faulty of step.call.faults ?? [])
          addFault(choices, step, faulty.fault, faulty.perform);
      }
      for (const { option, enabled } of offers) {
        if (!enabled() || !options.faults.has(option.fault ?? '')) continue;
        const label = `${option.label} #${(labelCounts.get(option.label) ?? 0) + 1}`;
        choices.push({ ...option, label });
      }
    }
    return { choices, preferred };
  }

  /** Whether a timer that begins something is due later than this one, and so can't be taken before it. */
  function holdsUp({ dueMs = 0 }: PendingStep): boolean {
    return pending.some(
      (other) => other.dueMs !== undefined && other.dueMs > dueMs && other.call.guard !== true,
    );
  }

  /**
   * Who waits longest comes first; of those that began to wait together, whose task is older. The turns that
   * a call took on its way to the port play no part: they differ between an injected and the global fetch.
   */
  function insert(step: PendingStep): void {
    const after = pending.findLastIndex(
      ({ since, task }) =>
        since < step.since || (since === step.since && task.number <= step.task.number),
    );
    pending.splice(after + 1, 0, step);
  }

  function addFault(
    choices: Option[],
    step: PendingStep,
    fault: string,
    perform: Option['perform'],
  ): void {
    if (options.faults.has(fault))
      choices.push({ label: `${step.label} ✗ ${fault}`, pending: step, fault, perform });
  }

  /** Run-to-completion: the task that ran goes on, then whoever waits longest, then time. See `Rule`. */
  function rank(step: PendingStep): number {
    if (step.dueMs !== undefined) return step.call.guard === true ? 0 : 1;
    if (passedOver.has(step)) return 2;
    return step.task === lastTask ? 4 : 3;
  }

  async function take(option: Option): Promise<void> {
    const { pending: step, fault } = option;
    const { call, task } = step;
    pending = pending.filter((other) => other !== step);
    begun += 1;
    footprint = createFootprint();
    if (task.process !== null) touchProcess(task.process.name, 'read');
    touchMemory(task);
    if (fault !== null) {
      faultsUsed += 1;
      task.fault = fault;
      if (step.since < 0) unique(step.label);
    }
    if (step.dueMs !== undefined) {
      nowMs = Math.max(nowMs, step.dueMs);
      step.askedIn.touch(TIME, 'read');
      footprint.touch(TIME, 'write');
    }
    const record: Step = {
      index: steps.length + 1,
      label: option.label,
      task: task.name,
      actor: task.actor,
      ...(call.to === undefined ? {} : { to: call.to }),
      ...(call.sentBy === undefined || call.sentBy === null ? {} : { sentBy: call.sentBy }),
      kind: call.kind,
      text: 'does not end',
      timeMs: nowMs,
      fault,
      phase: engine.phase,
      changes: [],
    };
    underWay = record;
    performing = true;
    const effect = await option.perform();
    performing = false;
    record.text = effect.text;
    lastTask = task;
    lastLabel = option.label;
    task.lastLabel = option.label;
    await alone(task, () => {
      if (!isDead(task)) step.settle(effect);
    });
    await resumeAll();
    record.changes = await options.afterStep(record, step);
    steps.push(record);
    underWay = null;
    observations.push({ footprint, cause: step.since - 1 });
  }

  /**
   * Lets go on what was spawned or was handed something over, one task after another: where there is no
   * AsyncLocalStorage, a call belongs to the one task that runs.
   */
  async function resumeAll(): Promise<void> {
    for (let next = resuming.shift(); next !== undefined; next = resuming.shift()) {
      await alone(next.task, next.go);
    }
  }

  /** Lets one task run until nothing moves any more. */
  async function alone(task: Task, go: () => void): Promise<void> {
    attribution.running = { task, within: null };
    go();
    await quiet.settled();
    attribution.running = null;
  }

  /** Its code runs in this step, and may touch whatever its process keeps in memory. */
  function touchMemory({ process }: Task): void {
    if (options.sharesMemory === true && process !== null)
      footprint.touch(`memory:${process.name}`, 'write');
  }

  function touchProcess(name: string, how: 'read' | 'write'): void {
    footprint.touch(`process:${name}`, how);
  }

  return engine;
}
