import { existsSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { visible } from '../report/visible.ts';
import { integrationProblem } from '../testing/integration-problem.ts';
import type { IntegrationUnderTest } from '../testing/integration-under-test.ts';
import { toSystem } from '../testing/to-integration.ts';
import { unchecked } from '../testing/unchecked.ts';
import type { SimulatorOptions } from '../world/simulator.ts';
import { UsageError } from './usage-error.ts';

/** Whether `--integration` names a file, which no shipped name looks like. */
export function isIntegrationFile(given: string): boolean {
  return /[\\/]|\.[cm]?[jt]s$/.test(given);
}

/** What a token calls the integration of this file. No shipped one is called so: it has an ending. */
export function nameOfFile(path: string): string {
  return basename(path);
}

/**
 * Loads an integration of the kit's form: the file's default export, or its export `integration`.
 *
 * @throws {UsageError} if there is no such file, it can't be loaded, or what it exports is no integration.
 */
export async function loadIntegration(path: string): Promise<{
  options: Pick<SimulatorOptions, 'integration' | 'fetch'>;
  isDefault: boolean;
  /** What can't be judged of it, one sentence each. */
  unchecked: string[];
}> {
  const file = resolve(path);
  const shown = visible(path);
  if (!existsSync(file)) {
    throw new UsageError(
      `there is no file "${shown}"; --integration takes a file's path, from here, or a name that "list" shows`,
    );
  }
  if (!statSync(file).isFile()) {
    throw new UsageError(`"${shown}" is a folder; --integration takes the path of a file`);
  }
  const exported = await load(file, shown);
  const given = exported['default'] ?? exported['integration'];
  if (given === undefined) {
    const names = Object.keys(exported);
    throw new UsageError(
      `"${shown}" exports ${names.length === 0 ? 'nothing' : `only ${names.join(', ')}`}; export the integration ` +
        'as default, or under the name "integration"',
    );
  }
  const problem = integrationProblem(given);
  if (problem !== null) {
    throw new UsageError(
      `what "${shown}" exports is no integration: ${problem}; its form is IntegrationUnderTest of sume-sim/testing`,
    );
  }
  const integration = given as IntegrationUnderTest;
  return {
    options: toSystem(integration, nameOfFile(path)),
    isDefault: exported['default'] !== undefined,
    unchecked: unchecked(integration),
  };
}

type Exports = Record<string, unknown>;

async function load(file: string, shown: string): Promise<Exports> {
  const url = pathToFileURL(file).href;
  try {
    try {
      return (await import(url)) as Exports;
    } catch (error) {
      if (!needsLoader(error)) throw error;
      return await loadTypeScript(file, url, error);
    }
  } catch (error) {
    if (error instanceof UsageError) throw error;
    const reason = error instanceof Error ? error.message : String(error);
    const where = positionIn(file, error);
    throw new UsageError(
      `"${shown}" could not be loaded${where}: ${visible(reason.replaceAll(/\s+/g, ' '))}`,
      { cause: error },
    );
  }
}

/** ` (line 3)`, as far as the stack names the file. */
function positionIn(file: string, error: unknown): string {
  const stack = error instanceof Error ? (error.stack ?? '') : '';
  const after = stack.split(file)[1] ?? '';
  const line = /^(?:\?[^:\s]*)?:(\d+)/.exec(after)?.[1];
  return line === undefined ? '' : ` (line ${line})`;
}

/** Node before 22.18 reads no TypeScript, and later ones only what can be erased. */
function needsLoader(error: unknown): boolean {
  const code = (error as { code?: unknown } | null)?.code;
  return code === 'ERR_UNKNOWN_FILE_EXTENSION' || code === 'ERR_UNSUPPORTED_TYPESCRIPT_SYNTAX';
}

/** By the loader that the file's own project has. */
async function loadTypeScript(file: string, url: string, reason: unknown): Promise<Exports> {
  const tsx = await optional<{ tsImport(url: string, parent: string): Promise<Exports> }>(
    file,
    'tsx/esm/api',
  );
  if (tsx !== null) return tsx.tsImport(url, url);
  const jiti = await optional<{
    createJiti(from: string): { import(file: string): Promise<Exports> };
  }>(file, 'jiti');
  if (jiti !== null) return jiti.createJiti(file).import(file);
  throw new UsageError(
    `"${visible(file)}" is TypeScript that this Node (${process.version}) does not read by itself; install tsx ` +
      'beside it (npm install --save-dev tsx), take Node 22.18 or later, or name a JavaScript file',
    { cause: reason },
  );
}

async function optional<Module>(from: string, name: string): Promise<Module | null> {
  let found: string;
  try {
    found = createRequire(from).resolve(name);
  } catch {
    // Not installed there: the next loader is tried.
    return null;
  }
  // What is found is the build for `require`; tsx's own for ESM, which lies beside it, is the one that works.
  const beside = found.replace(/\.cjs$/, '.mjs');
  const module = existsSync(beside) ? beside : found;
  return (await import(pathToFileURL(module).href)) as Module;
}
