/** How long to wait for a reader whose pipe is full. */
const PAUSE_MS = 10;

const DESCRIPTOR = { stdout: 1, stderr: 2 } as const;

/** Writes before it returns, for where nothing can be awaited any more. A reader that has gone away is no error. */
export function writeNow(to: keyof typeof DESCRIPTOR, text: string): void {
  // Not an import: what imports this is loaded in browsers too.
  const { writeSync } = process.getBuiltinModule('node:fs');
  const bytes = Buffer.from(`${text}\n`);
  for (let written = 0; written < bytes.length;) {
    try {
      written += writeSync(DESCRIPTOR[to], bytes, written);
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === 'EPIPE') return;
      if (code !== 'EAGAIN') throw new Error('The output could not be written.', { cause: error });
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, PAUSE_MS);
    }
  }
}
