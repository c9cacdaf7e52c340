import type { Arrival } from '../arrival.ts';
import type { AssembledFakeSume } from '../assemble.ts';
import type { Hold } from '../holds.ts';
import { BadCallError } from './operation.ts';

/** One fake of a server, and the holds that were placed on it over HTTP. */
export interface Namespace extends AssembledFakeSume {
  readonly holds: Map<string, Hold>;
}

/** The fakes of one server, one for each test that runs against it at the same time. */
export interface Namespaces {
  /** Makes it on first use. Throws `BadCallError` for a name that cannot be one. */
  get(name: string): Namespace;
  all(): readonly Namespace[];
}

/** What a request without a namespace belongs to. */
export const DEFAULT_NAMESPACE = 'default';

/** So that a client that invents names does not fill the memory. */
const MAX_NAMESPACES = 1_000;

/** @param make makes the fake of a namespace. */
export function createNamespaces(make: (name: string) => AssembledFakeSume): Namespaces {
  const made = new Map<string, Namespace>();
  return {
    get(name) {
      const known = made.get(name);
      if (known !== undefined) return known;
      if (!/^[A-Za-z0-9_-]{1,64}$/.test(name)) {
        throw new BadCallError(
          `The namespace ${JSON.stringify(name.slice(0, 80))} cannot be used: give 1 to 64 letters, digits, - or _.`,
        );
      }
      if (made.size >= MAX_NAMESPACES) {
        throw new BadCallError(
          `There are ${MAX_NAMESPACES} namespaces already: use one of them, or start the server anew.`,
        );
      }
      const namespace = { ...make(name), holds: new Map<string, Hold>() };
      made.set(name, namespace);
      return namespace;
    },
    all: () => [...made.values()],
  };
}

/**
 * The namespace that a request belongs to: from the header `X-Sume-Sim-Namespace`, else from an API key of
 * the form `ns.NAME.KEY`, for clients that cannot send a header of their own.
 */
export function namespaceOf(arrival: Arrival): string {
  const named = arrival.header('x-sume-sim-namespace');
  if (named !== null) return named;
  const key = arrival.header('authorization') ?? arrival.header('x-api-key') ?? '';
  return KEY_PREFIX.exec(key)?.[2] ?? DEFAULT_NAMESPACE;
}

/** The same request with the bare key, which is the one that is checked. */
export function withoutNamespace(arrival: Arrival): Arrival {
  return {
    ...arrival,
    header: (name) => {
      const value = arrival.header(name);
      if (value === null || (name !== 'authorization' && name !== 'x-api-key')) return value;
      return value.replace(KEY_PREFIX, '$1');
    },
  };
}

const KEY_PREFIX = /^((?:Bearer +)?)ns\.([A-Za-z0-9_-]+)\./i;
