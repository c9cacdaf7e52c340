/**
 * Stands in for Node's `node:module` in the lab's bundle: PGlite asks for it where it finds itself in Node, which a
 * browser never is.
 */
export function createRequire(): never {
  throw new Error('There is no require in a browser.');
}
