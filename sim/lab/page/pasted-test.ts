import type { Run, Violation } from '../../index.ts';

/**
 * A Vitest file that replays a failure of code that was pasted into the lab, with the code in it, since nothing else
 * has it: it fails for as long as the failure is there. It is JavaScript, as the code is.
 */
export function pastedTest(
  { integration, scenario, token }: Run,
  { invariant }: Violation,
  code: string,
): string {
  return `import { PGlite } from '@electric-sql/pglite';
import { createSimulator, scenarios } from 'sume-sim';
import { expect, test } from 'vitest';

// As it was pasted into the lab. Import your own instead once it is in a file.
${code.trim()}

test('${integration} keeps ${invariant} in ${scenario}', async () => {
  const simulator = await createSimulator({
    scenario: scenarios.find(({ name }) => name === '${scenario}'),
    integration: { name: '${integration}', text: 'Pasted into the lab.', memory: 'shared', ...integration },
    database: await PGlite.create(),
  });
  const token =
    '${token}';
  const { violations } = await simulator.replay(token, { lenient: true });
  expect(violations.map(({ message }) => message).join('\\n')).toBe('');
}, 60_000);
`;
}
