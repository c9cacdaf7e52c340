/**
 * A short name for some strings that never changes: 24 hexadecimal digits. Ids are made of it, so that they
 * follow from what a client sent and not from the order in which requests happened to arrive. Synchronous,
 * unlike WebCrypto's digest: an id has to be there in the same turn as the request. Not for secrets.
 *
 * @param parts kept apart: `('ab', 'c')` and `('a', 'bc')` differ.
 */
export function stableHash(...parts: readonly string[]): string {
  const text = parts.map((part) => `${part.length}:${part}`).join('');
  // Three multiply-and-xor lanes with different constants, 96 bits in all, mixed well at the end.
  let a = 0x9e3779b1;
  let b = 0x7feb352d;
  let c = 0x165667b1;
  for (let index = 0; index < text.length; index += 1) {
    const unit = text.charCodeAt(index);
    a = Math.imul(a ^ unit, 0x01000193);
    b = Math.imul((b << 5) ^ (b >>> 27) ^ unit, 0x85ebca6b);
    c = Math.imul((c << 13) ^ (c >>> 19) ^ unit, 0xc2b2ae35);
  }
  a = mix(a ^ text.length);
  b = mix(b ^ a);
  c = mix(c ^ b);
  a = mix(a ^ c);
  return [a, b, c].map((lane) => (lane >>> 0).toString(16).padStart(8, '0')).join('');
}

function mix(lane: number): number {
  let mixed = Math.imul(lane ^ (lane >>> 16), 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  return mixed ^ (mixed >>> 16);
}
