import { scenarios, type Scenario } from '../world/scenarios.ts';
import { CheckOptionError } from './check-errors.ts';

/**
 * The scenarios that the kit can play under this name: one, or for `all` each of them.
 *
 * @throws {CheckOptionError} for a name that is none, and for one that needs a real server.
 */
export function scenariosNamed(name: string): [Scenario, ...Scenario[]] {
  const possible = scenarios.filter(({ needs }) => needs !== 'postgres');
  const [first, ...more] =
    name === 'all' ? possible : possible.filter((scenario) => scenario.name === name);
  if (first !== undefined) return [first, ...more];
  const names = possible.map((scenario) => scenario.name).join(', ');
  throw new CheckOptionError(
    scenarios.some((scenario) => scenario.name === name)
      ? `The scenario "${name}" needs transactions that are open at the same time, and PGlite has one connection.`
      : `There is no scenario "${name}". There are all, ${names}.`,
  );
}
