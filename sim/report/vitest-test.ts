import type { Run, Violation } from '../world/run.ts';

/**
 * A Vitest file that replays a failure of a shipped integration, ready to paste: it fails for as long as the
 * failure is there. It reads the token leniently, since code in which it is mended takes other steps.
 */
export function vitestTest(run: Run, { invariant }: Pick<Violation, 'invariant'>): string {
  return `import { PGlite } from '@electric-sql/pglite';
import { createSimulator, integrations, scenarios } from 'sume-sim';
import { expect, test } from 'vitest';

test(${quoted(`${run.integration} keeps ${invariant} in ${run.scenario}`)}, async () => {
  const scenario = scenarios.find(({ name }) => name === ${quoted(run.scenario)})!;
  const integration = integrations.find(({ name }) => name === ${quoted(run.integration)})!;
  const database = await PGlite.create();
  const simulator = await createSimulator({ scenario, integration, database });
  const token =
    ${quoted(run.token)};
  const { violations } = await simulator.replay(token, { lenient: true });
  expect(violations.map(({ message }) => message).join('\\n')).toBe('');
}, 60_000);`;
}

/** Where an integration of one's own is exported from. */
export interface IntegrationFile {
  path: string;
  isDefault: boolean;
}

/** The same for an integration of one's own: a file to put where the command was typed. */
export function kitTest(
  run: Run,
  { invariant }: Pick<Violation, 'invariant'>,
  { path, isDefault }: IntegrationFile,
): string {
  const from = /^\.{0,2}[\\/]|^[A-Za-z]:/.test(path) ? path : `./${path}`;
  return `import { checkIntegration } from 'sume-sim/testing';
import { test } from 'vitest';
import ${isDefault ? 'integration' : '{ integration }'} from ${quoted(from.replaceAll('\\', '/'))};

test(${quoted(`${run.integration} keeps ${invariant} in ${run.scenario}`)}, async () => {
  const token =
    ${quoted(run.token)};
  await checkIntegration(integration, { replay: token });
}, 60_000);`;
}

function quoted(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'").replaceAll('\n', '\\n')}'`;
}
