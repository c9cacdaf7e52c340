import { writeSync } from 'node:fs';
import { errorJson } from './error-json.ts';
import { exitCode } from './exit-code.ts';

const STDOUT = 1;
const STDERR = 2;

/**
 * Sees to it that no end of the process passes for a pass. Code under test may call `process.exit(0)`, or its
 * file wait at its top level for what never comes: then nothing was judged, and the exit code says so.
 *
 * @param json whether stdout gets its one object even so.
 * @returns what tells it that the command has ended, and any end of the process is as it should be.
 */
export function watchForEarlyEnd(json: boolean): () => void {
  const tell = (code: number): void => {
    // That is Ctrl-C, pressed a second time.
    if (code === exitCode.interrupted) return;
    process.exitCode = exitCode.error;
    const message = `the process ended before the command did, ${reason(code)}. Nothing was judged.`;
    // Nothing asynchronous is done any more.
    writeSync(STDERR, `sume-sim: ${message}\n`);
    if (json) writeSync(STDOUT, `${errorJson('early_end', message)}\n`);
  };
  process.on('exit', tell);
  return () => {
    process.off('exit', tell);
  };
}

function reason(code: number): string {
  const caller = /process\.(?:exit|reallyExit) .*\n\s+at (.*)/.exec(
    new Error('here').stack ?? '',
  )?.[1];
  if (caller !== undefined) {
    return `by process.exit(${code}) at ${caller}: leave that to what starts your code, and not to what is checked`;
  }
  // With no code of anybody's, the event loop ran empty while the command waited.
  return code === 0 || code === UNSETTLED
    ? "because the integration's file waits at its top level for something that never comes: let it export, and wait in start"
    : 'by the error printed here, which nothing caught';
}

/** Node's exit code for a top-level await that cannot end; some versions tell it only after this was called. */
const UNSETTLED = 13;
