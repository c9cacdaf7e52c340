import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { transformWithOxc, type Plugin } from 'vite';

const FILE = 'cage.html';

/**
 * Makes the frame's file: one script without a request, and a policy that knows the script by its hash. Pasted code
 * may run in the one worker that the script starts, and reach nothing from there.
 */
export function cagePlugin(): Plugin {
  return {
    name: 'sume-sim-cage',
    async generateBundle() {
      this.emitFile({ type: 'asset', fileName: FILE, source: await page() });
    },
    configureServer: ({ middlewares }) => {
      middlewares.use(`/${FILE}`, (_request, response, next) => {
        page().then((text) => {
          response.setHeader('content-type', 'text/html');
          response.end(text);
        }, next);
      });
    },
  };
}

async function page(): Promise<string> {
  const runtime = await script('runtime.ts');
  const frame = `const RUNTIME = ${JSON.stringify(runtime).replaceAll('</', '<\\/')};\n${await script('frame.ts')}`;
  const hash = createHash('sha256').update(frame).digest('base64');
  const policy = `default-src 'none'; script-src 'sha256-${hash}'; worker-src blob:`;
  return [
    '<!doctype html>',
    `<meta http-equiv="Content-Security-Policy" content="${policy}">`,
    `<script>${frame}</script>`,
    '',
  ].join('\n');
}

/** A file as a classic script: without types, and without the marks of a module. */
async function script(name: string): Promise<string> {
  const source = await readFile(new URL(name, import.meta.url), 'utf8');
  const { code } = await transformWithOxc(source, name, { sourcemap: false });
  return code.replace(/^(import .*|export \{\};)$/gm, '').trim();
}
