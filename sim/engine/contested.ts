import { conflict, EVERYTHING, type Footprint } from './footprint.ts';

/**
 * Names of the resources over which two steps conflict, in the order of the alphabet: what at least one of them
 * writes and both touch. Where one of them reads all of a kind (`row:*`), the other one's are named.
 */
export function contested(one: Footprint, other: Footprint): string[] {
  const names = [one, other]
    .flatMap(({ reads, writes, adds }) => [reads, writes, adds])
    .flatMap((set) => [...set]);
  const onlyThis = (footprint: Footprint, name: string): Footprint => ({
    reads: only(footprint.reads, name),
    writes: only(footprint.writes, name),
    adds: only(footprint.adds, name),
  });
  return [...new Set(names)]
    .filter((name) => name !== EVERYTHING && !name.endsWith(':*'))
    .filter((name) => conflict(onlyThis(one, name), onlyThis(other, name)))
    .toSorted();
}

/** What of a set means this resource. */
function only(set: ReadonlySet<string>, name: string): Set<string> {
  const kind = `${name.slice(0, name.indexOf(':') + 1)}*`;
  return new Set([...set].filter((one) => one === name || one === kind || one === EVERYTHING));
}
