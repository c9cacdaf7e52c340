import type { EndlessLoop, LoopWatch } from '../world/loop-watch.ts';
import type { Run } from '../world/run.ts';
import { writeNow } from './write-now.ts';

/** So long may code run without giving control back: far longer than any handler, and the slowest machine's pauses. */
export const LOOP_LIMIT_MS = 10_000;

/** What is told of a loop, and the exit code. Nothing can be awaited for it: what loops has the thread. */
export type LastWords = (
  loop: EndlessLoop,
  soFar: ((loop: EndlessLoop) => Run) | null,
) => { texts: readonly { to: 'stdout' | 'stderr'; text: string }[]; code: number };

/** What the other thread asks, and what it is answered. */
interface Question {
  /** How often this thread had answered when the other grew impatient. */
  readonly turns: number;
  /** Set when it will not ask again: then a loop is told without its place too. */
  readonly last: boolean;
  answer: 'ask again' | 'no loop';
}

/** A statement may take so many times longer: it is slow where a machine is, and ends where the tables are small. */
const STATEMENT_LIMITS = 5;

/** The exit code where the tool itself fails. */
const NOT_TOLD = 3;

const CHANNEL = 'sume-sim:loop';

/** What both threads share: how often this one has answered, and what the other is to do. */
const [TURNS, STATE] = [0, 1];
const [NO_THREAD, IDLE, WATCHING] = [0, 1, 2];

/**
 * A watch for loops, by a second thread: it asks this one again and again whether its event loop still turns. If not,
 * it has this one, in the midst of what runs, look at its stack (as a debugger has an expression evaluated), tell of
 * the loop, and end the process. Node only; elsewhere than in the main thread, and beside a debugger, it sees nothing.
 *
 * Asking for a turn rather than timing the tasks leaves alone what waits for long (a hash in another thread, a slow
 * server), and a machine that slept: the time is counted in questions that were not answered.
 */
export function createLoopWatch(limitMs: number, lastWords: LastWords): LoopWatch {
  if (!canWatch()) return { begin: () => () => {} };
  const { subscribe, unsubscribe } = process.getBuiltinModule('node:diagnostics_channel');
  const { Worker } = process.getBuiltinModule('node:worker_threads');
  const shared = new Int32Array(new SharedArrayBuffer(2 * Int32Array.BYTES_PER_ELEMENT));
  let soFar: ((loop: EndlessLoop) => Run) | null = null;
  /** How often the database was met at work since this thread answered last. */
  let statement = { turns: -1, met: 0 };

  const end = (loop: EndlessLoop): void => {
    let code: number = NOT_TOLD;
    try {
      const told = lastWords(loop, soFar);
      for (const { to, text } of told.texts) writeNow(to, text);
      code = told.code;
    } catch (error) {
      // Whoever would hear of it has no turn any more.
      writeNow('stderr', `sume-sim: a loop could not be shown: ${String(error)}`);
    } finally {
      // Node would add that it waits for a debugger to disconnect, which the other thread is to it.
      process.getBuiltinModule('node:fs').closeSync(2);
      (process as unknown as { reallyExit(code: number): void }).reallyExit(code);
    }
  };

  const answer = (message: unknown): void => {
    const question = message as Question;
    const stack = currentStack();
    // A debugger stops the code where somebody looks at it.
    if (
      Atomics.load(shared, STATE) !== WATCHING ||
      Atomics.load(shared, TURNS) !== question.turns ||
      process.getBuiltinModule('node:inspector').url() !== undefined
    )
      return;
    // PostgreSQL is WebAssembly.
    const isStatement = stack.some((line) => /wasm:|wasm-function/.test(line));
    const where = isStatement ? null : placeIn(stack);
    if (where !== null) end({ seconds: limitMs / 1_000, where });
    else if (!question.last) question.answer = 'ask again';
    // Before any schedule it may be the loading of a large package, in which no line is one's own.
    else if (!isStatement && soFar !== null) end({ seconds: limitMs / 1_000, where });
    else if (isStatement) {
      const met = statement.turns === question.turns ? statement.met + 1 : 1;
      statement = { turns: question.turns, met };
      if (met < STATEMENT_LIMITS) return;
      end({ seconds: (met * limitMs) / 1_000, where: 'a statement that it gave to the database' });
    }
  };

  const startThread = (): void => {
    subscribe(CHANNEL, answer);
    // Without the loaders that this program was started with: they would wait for this thread.
    const thread = new Worker(THREAD, {
      eval: true,
      execArgv: [],
      workerData: { shared, limitMs },
    });
    thread.on('message', () => Atomics.add(shared, TURNS, 1));
    thread.once('exit', () => unsubscribe(CHANNEL, answer));
    // A program that has nothing else to do may end.
    thread.unref();
  };

  return {
    begin: (played) => {
      soFar = played;
      if (Atomics.exchange(shared, STATE, WATCHING) === NO_THREAD) startThread();
      return () => {
        soFar = null;
        Atomics.store(shared, STATE, IDLE);
      };
    },
  };
}

/** Whether there is a main thread that another can look into. Modules are not imported: the kit runs in browsers too. */
function canWatch(): boolean {
  const threads = globalThis.process?.getBuiltinModule?.('node:worker_threads');
  return threads !== undefined && threads.isMainThread && process.features.inspector;
}

/**
 * The other thread. As text, because it has to be loaded alike from sources, from the package and in a test runner,
 * each of which loads modules in a way of its own. Code that awaits what is done is often met between two of its
 * turns, when no line of it is on the stack: hence it is asked some times. It ends when it was idle for long: a
 * test runner that loads this module for each file of tests would be left with one for each.
 */
const THREAD = `
const { parentPort, workerData: { shared, limitMs } } = require('node:worker_threads');
const { Session } = require('node:inspector');
const EVERY_MS = Math.min(500, limitMs / 4);
const TIMES = 200;
const LONG_IDLE = 20;
let idle = 0;
let turns = -1;
let silentMs = 0;

const ask = (session, time) => {
  const question = JSON.stringify({ turns, last: time === TIMES, answer: 'no loop' });
  const expression = "(() => { const question = " + question + "; process.getBuiltinModule(" +
    "'node:diagnostics_channel').channel('${CHANNEL}').publish(question); return question.answer; })()";
  session.post('Runtime.evaluate', { expression }, (error, answer) => {
    if (answer?.result.value === 'ask again') setTimeout(ask, 2, session, time + 1);
    else {
      session.disconnect();
      silentMs = 0;
    }
  });
};

setInterval(() => {
  if (silentMs >= limitMs) return;
  const now = Atomics.load(shared, ${TURNS});
  const watching = Atomics.load(shared, ${STATE}) === ${WATCHING};
  silentMs = watching && now === turns ? silentMs + EVERY_MS : 0;
  idle = watching ? 0 : idle + 1;
  if (idle >= LONG_IDLE && Atomics.compareExchange(shared, ${STATE}, ${IDLE}, ${NO_THREAD}) === ${IDLE}) process.exit();
  turns = now;
  parentPort.postMessage('are you there?');
  if (silentMs < limitMs) return;
  const session = new Session();
  session.connectToMainThread();
  ask(session, 1);
}, EVERY_MS);
`;

/** Deep enough for a reader that recurses. */
const STACK_LINES = 200;

function currentStack(): string[] {
  const before = Error.stackTraceLimit;
  Error.stackTraceLimit = STACK_LINES;
  const lines = (new Error('where').stack ?? '').split('\n').slice(1);
  Error.stackTraceLimit = before;
  return lines.map((line) => line.trim().replace(/^at /, ''));
}

/** The folders of this tool, as sources or as built. */
const OURS = ['../', '../../src/'].map((folder) => new URL(folder, import.meta.url));

/** The innermost line that is neither the platform's, nor a package's, nor this tool's. */
function placeIn(stack: readonly string[]): string | null {
  const { fileURLToPath } = process.getBuiltinModule('node:url');
  const line = stack.find(
    (candidate) =>
      /(file:\/\/|[\\/]).*:\d+:\d+\)?$/.test(candidate) &&
      !/node:|[\\/]node_modules[\\/]/.test(candidate) &&
      !OURS.some(
        (folder) => candidate.includes(folder.href) || candidate.includes(fileURLToPath(folder)),
      ),
  );
  return (
    line?.replace(/^async /, '').replace(/file:.*(?=:\d+:\d+)/, (url) => fileURLToPath(url)) ?? null
  );
}
