import { existsSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import type { Command } from 'commander';
import sirv from 'sirv';
import { CONTENT_SECURITY_POLICY } from '../../lab/content-security-policy.ts';
import type { Context } from '../context.ts';
import { exitCode } from '../exit-code.ts';
import { untilInterrupted } from '../until-interrupted.ts';
import { UsageError } from '../usage-error.ts';
import { wholeNumber } from '../whole-number.ts';

const DEFAULT_PORT = 4011;
const LOOPBACK = '127.0.0.1';

/** `lab`: serves the browser page on this machine, until Ctrl-C. */
export function addLabCommand(program: Command, context: Context): void {
  program
    .command('lab')
    .description('serve the browser page, in which races can be watched and stepped through')
    .option(
      '--port <n>',
      `0 for any free one (default: ${DEFAULT_PORT})`,
      wholeNumber('--port', 0, 65_535),
    )
    .option('--json', 'one JSON object on stdout once it listens')
    .addHelpText(
      'after',
      `
Everything runs in the browser: the page speaks to no other host. Only this machine reaches it. Ctrl-C ends it.`,
    )
    .action(async ({ port = DEFAULT_PORT, json }: { port?: number; json?: true }) => {
      const server = await listen(pageFolder(), port);
      const url = `http://${LOOPBACK}:${(server.address() as AddressInfo).port}/`;
      const ended = untilInterrupted();
      await context.stdout.write(
        json === true ? JSON.stringify({ url }) : `The lab is at ${url}\nCtrl-C ends it.`,
      );
      await ended;
      // A browser keeps its connections open for longer than anybody waits.
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      context.finish(exitCode.pass);
    });
}

/** @throws {UsageError} where the page has not been built. */
function pageFolder(): string {
  // From sim/cli/commands in the repository, from dist/sim/cli/commands in the package.
  const path = import.meta.url.endsWith('.ts') ? '../../../dist/lab' : '../../../lab';
  const folder = fileURLToPath(new URL(path, import.meta.url));
  if (existsSync(`${folder}/index.html`)) return folder;
  throw new UsageError(
    `the lab is not in ${folder}; build it with "npm run build:lab", or work on it with "npm run lab"`,
  );
}

/** @throws {UsageError} where the port can't be had. */
function listen(folder: string, port: number): Promise<Server> {
  const files = sirv(folder, {
    setHeaders: (response, path) => {
      // The cage's own policy stands in its file, and knows its script by a hash.
      const policy = path.endsWith('cage.html')
        ? "sandbox allow-scripts; frame-ancestors 'self'"
        : `${CONTENT_SECURITY_POLICY}; frame-ancestors 'none'`;
      response.setHeader('content-security-policy', policy);
      response.setHeader('x-content-type-options', 'nosniff');
      response.setHeader('referrer-policy', 'no-referrer');
      // Names with a hash never change their content.
      const isLasting = path.includes('/assets/');
      response.setHeader('cache-control', isLasting ? 'max-age=31536000, immutable' : 'no-cache');
    },
  });
  const server = createServer((request, response) => {
    files(request, response, () => {
      response.writeHead(404, { 'content-type': 'text/plain' });
      response.end('There is no such file. The lab is at /\n');
    });
  });
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      const what = error.code === 'EADDRINUSE' ? 'another program listens there' : error.message;
      reject(
        new UsageError(
          `port ${port} cannot be had: ${what}; name another with --port, or 0 for any free one`,
          {
            cause: error,
          },
        ),
      );
    });
    server.listen(port, LOOPBACK, () => resolve(server));
  });
}
