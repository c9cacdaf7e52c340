import type { SimulatorOptions } from '../world/simulator.ts';
import type { Context } from './context.ts';
import type { DatabaseChoice } from './database-options.ts';
import { findNamed } from './find-named.ts';
import { isIntegrationFile, loadIntegration } from './load-integration.ts';
import { createLoopEnd } from './loop-end.ts';
import type { ReportOptions } from './run-options.ts';
import { UsageError } from './usage-error.ts';

/** What is run: a shipped integration, or one's own from a file. */
export interface System {
  /** For `createSimulator`. */
  readonly options: Pick<SimulatorOptions, 'integration' | 'fetch' | 'loopWatch'>;
  /** The command's context, in which what is printed to be typed or pasted names the file too. */
  readonly context: Context;
}

/**
 * The system that `--integration` names.
 *
 * @param options how a loop in a file of one's own is shown, should the command end in one.
 * @throws {UsageError} for a name that is not shipped, and for a file that can't be used, with the reason.
 */
export async function findSystem(
  given: string,
  choice: DatabaseChoice,
  context: Context,
  options: ReportOptions,
): Promise<System> {
  if (!isIntegrationFile(given)) {
    const { integrations } = await import('../integrations/index.ts');
    return { options: { integration: findNamed('integration', integrations, given) }, context };
  }
  if (choice.kind === 'postgres') {
    throw new UsageError(
      `"${given}" is an integration of your own, and those are explored on PGlite; leave --database out`,
    );
  }
  const { loopLimitMs } = context;
  const loopEnd =
    loopLimitMs === undefined ? null : createLoopEnd(given, loopLimitMs, options, context);
  const endWatch = loopEnd?.watch.begin(null);
  const loaded = await loadIntegration(given).finally(() => endWatch?.());
  const system: System = {
    options: { ...loaded.options, ...(loopEnd === null ? {} : { loopWatch: loopEnd.watch }) },
    context: {
      ...context,
      integrationFile: { path: given, isDefault: loaded.isDefault },
      unchecked: loaded.unchecked,
      ...(loopEnd === null ? {} : { loopEnd }),
      replayCommand: (token) => `${context.replayCommand(token)} --integration ${quoted(given)}`,
    },
  };
  if (loopEnd !== null) loopEnd.context = system.context;
  return system;
}

function quoted(path: string): string {
  return /^[\w./\\:@-]+$/.test(path) ? path : `'${path.replaceAll("'", String.raw`'\''`)}'`;
}
