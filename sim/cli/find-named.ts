import { visible } from '../report/visible.ts';
import { didYouMean } from './did-you-mean.ts';
import { UsageError } from './usage-error.ts';

/**
 * The one of `things` that is called `name`.
 *
 * @throws {UsageError} naming what was given and the nearest names, or where all of them are listed.
 */
export function findNamed<T extends { name: string }>(
  kind: string,
  things: readonly T[],
  name: string,
): T {
  const found = things.find((thing) => thing.name === name);
  if (found !== undefined) return found;
  const names = things.map((thing) => thing.name);
  if (kind === 'scenario' && name === 'all') {
    throw new UsageError('only fuzz takes "all"; name one scenario ("list" shows them)');
  }
  const advice = didYouMean(name, names) ?? 'the command "list" shows all of them';
  throw new UsageError(`no ${kind} is called "${visible(name)}"; ${advice}`);
}
