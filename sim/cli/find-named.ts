import { visible } from '../report/visible.ts';
import { nearest } from './nearest.ts';
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
  const near = nearest(
    name,
    things.map((thing) => thing.name),
  );
  throw new UsageError(`no ${kind} is called "${visible(name)}"; ${suggest(near)}`);
}

function suggest(near: string[]): string {
  if (near.length === 0) return 'the command "list" shows all of them';
  return `did you mean ${near.map((name) => `"${name}"`).join(' or ')}?`;
}
