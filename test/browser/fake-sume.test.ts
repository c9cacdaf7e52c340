import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createServer, type ViteDevServer } from 'vite';
import { afterEach, expect, test } from 'vitest';
import { openPage, type OpenPage } from './chromium.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const open: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const one of open.splice(0).toReversed()) await one.close();
});

/** The program of the fake's README that is for a page, as it stands, and a word to the test at its end. */
async function pageProgram(): Promise<string> {
  const readme = await readFile(join(root, 'sim/fake-sume/README.md'), 'utf8');
  const program = /^```ts browser\n(.*?)^```$/ms.exec(readme)?.[1];
  if (program === undefined) throw new Error('The README has no program for a page.');
  return `${program}
await fetch('/told', { method: 'POST', body: document.body.textContent });
`;
}

/** Serves one page that runs a program, and hears what the page tells. */
async function servePage(program: string): Promise<{ url: string; told: Promise<string> }> {
  const folder = await mkdtemp(join(root, 'node_modules', '.sume-sim-page-'));
  open.push({ close: () => rm(folder, { recursive: true, force: true }) });
  await writeFile(join(folder, 'page.ts'), program);
  await writeFile(
    join(folder, 'index.html'),
    `<!doctype html>
<script>
  for (const kind of ['error', 'unhandledrejection']) {
    addEventListener(kind, (event) => {
      const error = event.reason ?? event.error ?? event.message;
      fetch('/told', { method: 'POST', body: 'broke: ' + (error?.stack ?? error) });
    });
  }
</script>
<body><script type="module" src="./page.ts"></script></body>`,
  );
  const worker = await readFile(join(root, 'node_modules/msw/lib/mockServiceWorker.js'));
  let tell: (told: string) => void = () => {};
  const told = new Promise<string>((resolve) => (tell = resolve));
  const server: ViteDevServer = await createServer({
    root: folder,
    configFile: false,
    logLevel: 'error',
    cacheDir: join(folder, '.vite'),
    resolve: { alias: { 'sume-sim/fake-sume': join(root, 'sim/fake-sume/index.ts') } },
    optimizeDeps: { include: ['msw', 'msw/browser'] },
    server: { host: '127.0.0.1', port: 0, fs: { strict: false }, hmr: false, watch: null },
    plugins: [
      {
        name: 'worker-and-ear',
        configureServer: ({ middlewares }) => {
          middlewares.use('/mockServiceWorker.js', (_request, response: ServerResponse) => {
            response.setHeader('content-type', 'text/javascript');
            response.end(worker);
          });
          middlewares.use('/told', (request: IncomingMessage, response: ServerResponse) => {
            let text = '';
            request.on('data', (piece: Buffer) => (text += piece.toString()));
            request.on('end', () => {
              response.end();
              tell(text);
            });
          });
        },
      },
    ],
  });
  open.push(server);
  await server.listen();
  const address = server.httpServer?.address();
  if (address === null || typeof address !== 'object') throw new Error('The page has no address.');
  return { url: `http://127.0.0.1:${address.port}/`, told };
}

test('a page with setupWorker sees a job through to its end, refusals included', async () => {
  const { url, told } = await servePage(await pageProgram());
  const page: OpenPage = await openPage(url);
  open.push(page);
  const seen = (await told).split(', ');
  expect(seen.at(-1), seen.join(', ')).toBe('completed');
  const others = new Set(seen.slice(0, -1));
  expect([...others].every((one) => ['queued', 'processing', '500'].includes(one))).toBe(true);
  expect(others).toContain('processing');
});
