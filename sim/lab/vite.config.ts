import { fileURLToPath } from 'node:url';
import { defineConfig, type Plugin, type UserConfig } from 'vite';
import { cagePlugin } from './cage/plugin.ts';
import { CONTENT_SECURITY_POLICY } from './content-security-policy.ts';
import { shipped } from './shipped/plugin.ts';

const here = (path: string, base: string = import.meta.url): string =>
  fileURLToPath(new URL(path, base));

/** Only in what is built: the development server writes scripts into the page. */
const policy: Plugin = {
  name: 'sume-sim-policy',
  apply: 'build',
  transformIndexHtml: () => [
    {
      tag: 'meta',
      attrs: { 'http-equiv': 'Content-Security-Policy', content: CONTENT_SECURITY_POLICY },
      injectTo: 'head-prepend',
    },
  ],
};

/**
 * PGlite's loader, which Emscripten wrote, evals the JavaScript that a WebAssembly module may hold. PGlite's modules
 * hold none, and the page's policy forbids it. An eval of our own is still warned of.
 */
const pgliteEvals: Plugin = {
  name: 'sume-sim-pglite-evals',
  onLog: (_level, { code, id, message }) =>
    code === 'EVAL' && `${id} ${message}`.includes('@electric-sql/pglite') ? false : null,
};

/** How long plugins take is no news: one of them makes a database. */
const rolldownOptions = { checks: { bundlerTimings: false } };

const config: UserConfig = defineConfig({
  root: here('.'),
  // Relative, so that the built page works in any folder of any server.
  base: './',
  plugins: [shipped(), cagePlugin(), policy, pgliteEvals],
  resolve: {
    alias: [
      { find: 'tough-cookie', replacement: here('simulation/tough-cookie.ts') },
      { find: 'node:module', replacement: here('simulation/node-module.ts') },
      // Files that PGlite loads by itself, and does not export.
      {
        find: /^virtual:(pglite\.(?:data|wasm)\?url)$/,
        replacement: here('$1', import.meta.resolve('@electric-sql/pglite')),
      },
    ],
  },
  // Its WebAssembly is found beside its own file.
  optimizeDeps: { exclude: ['@electric-sql/pglite'] },
  worker: { format: 'es', plugins: () => [pgliteEvals], rolldownOptions },
  server: { host: '127.0.0.1' },
  build: {
    rolldownOptions,
    outDir: here('../../dist/lab'),
    emptyOutDir: true,
    target: 'es2022',
    assetsInlineLimit: 0,
    chunkSizeWarningLimit: 2_000,
  },
});

export default config;
