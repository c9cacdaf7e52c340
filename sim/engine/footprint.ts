/** What a step touched, observed while it ran: resources by name, read or written. */
export interface Footprint {
  readonly reads: ReadonlySet<string>;
  readonly writes: ReadonlySet<string>;
}

/** A write of it conflicts with everything: for effects whose extent is not known. */
export const EVERYTHING = '*';

/** Whether the order of two steps can matter: they touch the same resource, and one of them writes it. */
export function conflict(one: Footprint, other: Footprint): boolean {
  return meets(one.writes, other) || meets(other.writes, one);
}

function meets(writes: ReadonlySet<string>, other: Footprint): boolean {
  if (writes.size === 0) return false;
  if (writes.has(EVERYTHING)) return other.reads.size > 0 || other.writes.size > 0;
  if (other.reads.has(EVERYTHING) || other.writes.has(EVERYTHING)) return true;
  for (const resource of writes) {
    if (other.reads.has(resource) || other.writes.has(resource)) return true;
    // `row:*` is every resource that begins like it.
    const kind = resource.slice(0, resource.indexOf(':') + 1);
    if (other.reads.has(`${kind}*`) || other.writes.has(`${kind}*`)) return true;
    if (
      resource === `${kind}*` &&
      [...other.reads, ...other.writes].some((one) => one.startsWith(kind))
    )
      return true;
  }
  return false;
}

/** A footprint in the making. */
export interface FootprintRecorder extends Footprint {
  touch(resource: string, how: 'read' | 'write'): void;
}

export function createFootprint(): FootprintRecorder {
  const reads = new Set<string>();
  const writes = new Set<string>();
  return {
    reads,
    writes,
    touch: (resource, how) => {
      (how === 'read' ? reads : writes).add(resource);
    },
  };
}
