/** What the trap of the global `fetch` calls it. */
export const GLOBAL_FETCH = 'the global fetch';

const ADVICE =
  'Use the port that it was started with instead (ports.clock, ports.fetch, ports.database), or pass that ' +
  'dependency in.';
const FETCH_ADVICE =
  "Use ports.fetch instead. Or put fetch: 'global' beside setup and start in the integration, or in the options of " +
  "createSimulator: then the global fetch is the simulator's while a schedule runs.";

/** A task awaited something that the engine does not own, so that its order can be neither chosen nor replayed. */
export class UncontrolledAwaitError extends Error {
  readonly code = 'uncontrolled_await';
  override readonly name = 'UncontrolledAwaitError';

  constructor(task: string, what: string, where: string | null) {
    super(
      `The task ${task} used ${what}${where === null ? '' : ` (${where})`}, which the simulator can neither ` +
        `order nor replay. ${what === GLOBAL_FETCH ? FETCH_ADVICE : ADVICE}`,
    );
  }
}

/** No step is left, and a task still waits: for something outside the ports, or for another task that does. */
export class BlockedTaskError extends Error {
  readonly code = 'blocked_task';
  override readonly name = 'BlockedTaskError';

  constructor(tasks: readonly { name: string; lastLabel: string | null }[]) {
    const named = tasks.map(
      (task) =>
        `${task.name} (${task.lastLabel === null ? 'before its first step' : `after "${task.lastLabel}"`})`,
    );
    super(
      `Nothing is left to happen, and still waiting: ${named.join(', ')}. Either the tasks wait for each ` +
        'other (a lock that is never released), or one awaits something that is no port. Look at the await ' +
        'after the named step.',
    );
  }
}

/** The transaction's own code called the main handle, which waits for that very transaction. */
export class NestedCallError extends Error {
  readonly code = 'nested_call';
  override readonly name = 'NestedCallError';

  constructor(task: string, what: string, within: string) {
    super(
      `The task ${task} called ${what} on the main database handle inside "${within}". On a database with ` +
        'one connection that waits for itself for ever. Use the handle that the transaction gives (tx).',
    );
  }
}

/** A process ended while this was in flight. Thrown to whoever waited on the other side. */
export class ConnectionResetError extends Error {
  readonly code = 'ECONNRESET';
  override readonly name = 'ConnectionResetError';
}
