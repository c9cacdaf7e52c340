/**
 * How a step touches a resource. To add is to write what is the same in whatever order it is done (something
 * has been said, and perhaps again): two that add do not conflict, one that adds and one that reads do.
 */
export type Touch = 'read' | 'write' | 'add';

/** What a step touched, observed while it ran: resources by name, read, written or added to. */
export interface Footprint {
  readonly reads: ReadonlySet<string>;
  readonly writes: ReadonlySet<string>;
  readonly adds: ReadonlySet<string>;
}

/** Of a step that touched nothing. */
export const NOTHING: Footprint = { reads: new Set(), writes: new Set(), adds: new Set() };

/** A write of it conflicts with everything: for effects whose extent is not known. */
export const EVERYTHING = '*';

/** Whether the order of two steps can matter: they touch the same resource, and not both in the same harmless way. */
export function conflict(one: Footprint, other: Footprint): boolean {
  return (
    meet(one.writes, other.reads) ||
    meet(one.writes, other.writes) ||
    meet(one.writes, other.adds) ||
    meet(one.reads, other.writes) ||
    meet(one.reads, other.adds) ||
    meet(one.adds, other.reads) ||
    meet(one.adds, other.writes)
  );
}

/** Whether two sets have a resource in common. */
function meet(one: ReadonlySet<string>, other: ReadonlySet<string>): boolean {
  if (one.size === 0 || other.size === 0) return false;
  if (one.has(EVERYTHING) || other.has(EVERYTHING)) return true;
  for (const resource of one) {
    if (other.has(resource)) return true;
    // `row:*` is every resource that begins like it.
    const kind = resource.slice(0, resource.indexOf(':') + 1);
    if (kind === '') continue;
    if (other.has(`${kind}*`)) return true;
    if (resource === `${kind}*` && [...other].some((name) => name.startsWith(kind))) return true;
  }
  return false;
}

/** A footprint in the making. */
export interface FootprintRecorder extends Footprint {
  touch(resource: string, how: Touch): void;
}

export function createFootprint(): FootprintRecorder {
  const reads = new Set<string>();
  const writes = new Set<string>();
  const adds = new Set<string>();
  const sets = { read: reads, write: writes, add: adds };
  return {
    reads,
    writes,
    adds,
    touch: (resource, how) => {
      sets[how].add(resource);
    },
  };
}
