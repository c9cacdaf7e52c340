#!/usr/bin/env node
import { systemClock } from '../../src/clock.ts';
import { LOOP_LIMIT_MS } from '../testing/loop-watch.ts';
import { consoleOutput } from './console-output.ts';
import type { Context } from './context.ts';
import { watchForEarlyEnd } from './early-end.ts';
import { errorJson } from './error-json.ts';
import { exitCode } from './exit-code.ts';
import { runProgram } from './program.ts';
import { replayCommand } from './replay-command.ts';
import { UsageError } from './usage-error.ts';

const args = process.argv.slice(2);
const stderr = consoleOutput(process.stderr, process.env);
const context: Context = {
  stdout: consoleOutput(process.stdout, process.env),
  stderr,
  clock: systemClock,
  withDatabase: async (choice, work) => {
    if (choice.kind === 'postgres') {
      const { withPostgres } = await import('./postgres.ts');
      return withPostgres(choice.url ?? process.env['SUME_SIM_DATABASE_URL'] ?? null, work);
    }
    const { openPGlite } = await import('./pglite.ts');
    const database = await openPGlite(process.env, (line) => stderr.write(line));
    try {
      return await work(database);
    } finally {
      await database.close();
    }
  },
  replayCommand: replayCommand(import.meta.url),
  loopLimitMs: LOOP_LIMIT_MS,
  finish: (code) => {
    process.exitCode = code;
  },
};

const ended = watchForEarlyEnd(args.includes('--json'));
try {
  await runProgram(args, context);
} catch (error) {
  if (error instanceof UsageError) {
    context.finish(exitCode.usage);
    await stderr.write(`sume-sim: ${error.message}`);
  } else {
    context.finish(exitCode.error);
    await stderr.write(
      `sume-sim: ${isDrift(error) ? '' : 'the command failed: '}${withCauses(error)}`,
    );
    if (args.includes('--json'))
      await context.stdout.write(errorJson(codeOf(error), withCauses(error)));
  }
}
ended();

/** A token that does not fit its code any more is an answer. (By its code: its class comes with the whole simulator.) */
function isDrift(error: unknown): boolean {
  return codeOf(error) === 'replay_drift';
}

function withCauses(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const cause = error.cause === undefined ? '' : `\n  because: ${withCauses(error.cause)}`;
  return error.message + cause;
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : 'unexpected';
}
