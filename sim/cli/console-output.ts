import type { Writable } from 'node:stream';

/** Where a command writes. Waits until the text is handed over, so that ending the process loses nothing. */
export interface ConsoleOutput {
  /**
   * One text, ended with a line break. A reader that has gone away (`| head`) is no error, and whatever else
   * fails is told once: nothing more is written then.
   */
  write(text: string): Promise<void>;
  /** Cells in a line: the terminal's, or COLUMNS, or 100. */
  width: number;
  isTerminal: boolean;
  /** Whether to colour: FORCE_COLOR, then NO_COLOR, then whether it is a terminal. */
  colour: boolean;
}

const DEFAULT_WIDTH = 100;
const NARROWEST = 60;

/** What is used of a stream of the process: only a terminal has the last two. */
export type ProcessStream = Pick<Writable, 'write' | 'on'> & { isTTY?: boolean; columns?: number };

/** Dresses one of the process's streams as a place to write to. */
export function consoleOutput(stream: ProcessStream, env: NodeJS.ProcessEnv): ConsoleOutput {
  let gone = false;
  // Without a listener an error on the stream would end the process before the write's callback tells.
  stream.on('error', () => {});
  const isTerminal = stream.isTTY === true;
  const columns = isTerminal ? (stream.columns ?? 0) : Number(env['COLUMNS']);
  return {
    isTerminal,
    width: Math.max(columns > 0 ? columns : DEFAULT_WIDTH, NARROWEST),
    colour: wantsColour(isTerminal, env),
    write: (text) =>
      new Promise((resolve, reject) => {
        if (gone) {
          resolve();
          return;
        }
        stream.write(`${text}\n`, (error?: NodeJS.ErrnoException | null) => {
          if (error === null || error === undefined) {
            resolve();
            return;
          }
          gone = true;
          if (error.code === 'EPIPE') resolve();
          else reject(new Error('The output could not be written.', { cause: error }));
        });
      }),
  };
}

function wantsColour(isTerminal: boolean, env: NodeJS.ProcessEnv): boolean {
  const forced = env['FORCE_COLOR'];
  if (forced !== undefined) return forced !== '0' && forced !== 'false';
  // https://no-color.org: any value but the empty one.
  if ((env['NO_COLOR'] ?? '') !== '') return false;
  return isTerminal && env['TERM'] !== 'dumb';
}
