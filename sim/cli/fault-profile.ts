import { readFile } from 'node:fs/promises';
import { isPresetName, PRESET_NAMES, type PresetName } from '../fake-sume/faults/presets.ts';
import { parseFaultProfile, type FaultProfile } from '../fake-sume/faults/profile.ts';
import { BadOptionError } from '../fake-sume/errors.ts';
import { visible } from '../report/visible.ts';
import { UsageError } from './usage-error.ts';

/**
 * The fault profile that `--faults` means: the name of one, or a file that holds one as JSON.
 *
 * @throws {UsageError} naming what was given, and what is wrong with it or with the file.
 */
export async function faultProfile(given: string): Promise<FaultProfile | PresetName> {
  if (isPresetName(given)) return given;
  try {
    return parseFaultProfile(JSON.parse(await readFile(given, 'utf8')));
  } catch (error) {
    throw new UsageError(problemOf(given, error), { cause: error });
  }
}

function problemOf(given: string, error: unknown): string {
  const shown = `"${visible(given)}"`;
  if (error instanceof SyntaxError) {
    return `the fault profile ${shown} is not JSON: ${visible(error.message)}`;
  }
  if (error instanceof BadOptionError) return `the fault profile ${shown}: ${error.message}`;
  const reason = error instanceof Error && 'code' in error ? String(error.code) : String(error);
  return (
    `--faults takes ${PRESET_NAMES.join(', ')} or a file that holds a profile as JSON, and ${shown} is ` +
    `none of the names and cannot be read (${reason})`
  );
}
