import { InputError } from './errors.ts';

/** Header names, as Sume's docs spell them. */
export const SIGNATURE_HEADER = 'X-Sume-Signature';
export const TIMESTAMP_HEADER = 'X-Sume-Timestamp';

/** What a delivery shows of itself. */
export interface SignedDelivery {
  /** The bytes received, before anything parsed them. */
  body: Uint8Array;
  /** `X-Sume-Timestamp`: Unix seconds, in digits. Null when absent. */
  timestamp: string | null;
  /** `X-Sume-Signature`: one or several `v1=<hex>`, comma-separated. Null when absent. */
  signature: string | null;
  /** The receiver's own time, in milliseconds since the epoch. */
  nowMs: number;
}

/** Why a delivery is not believed; `valid` when it is. */
export type SignatureVerdict =
  'valid' | 'no_signature' | 'bad_timestamp' | 'outside_tolerance' | 'wrong_signature';

export type SignatureVerifier = (delivery: SignedDelivery) => Promise<SignatureVerdict>;

const DEFAULT_TOLERANCE_MS = 300_000;

/**
 * Makes a verifier of Sume's webhook signature: HMAC-SHA256, keyed with a signing secret, over
 * `${timestamp}.${body}` in the bytes as sent. During a rotation there are several secrets and several
 * signatures; each is tried against each. `toleranceMs` (300,000 by default) is the most that the timestamp may
 * be off, inclusive, to either side: a missing or future timestamp is no way around it.
 *
 * Throws an `InputError` when there is no secret, or an empty one: its signature anyone can make.
 */
export function createSignatureVerifier(
  secrets: string | readonly string[],
  options: { toleranceMs?: number | undefined } = {},
): SignatureVerifier {
  const all = typeof secrets === 'string' ? [secrets] : [...secrets];
  if (all.length === 0 || all.some((secret) => typeof secret !== 'string' || secret === '')) {
    throw new InputError(
      'A webhook secret is missing or empty, so anyone could sign. Pass the signing secret that Sume shows ' +
        'for the endpoint; is the environment variable set?',
    );
  }
  const { toleranceMs = DEFAULT_TOLERANCE_MS } = options;
  if (!(toleranceMs >= 0 && Number.isFinite(toleranceMs))) {
    throw new InputError(
      `toleranceMs is ${toleranceMs}; it must be a number of milliseconds, 0 or more. It cannot be switched off.`,
    );
  }
  const encoder = new TextEncoder();
  // Imported once, and only when something is there to verify.
  let keys: Promise<CryptoKey[]> | undefined;

  return async ({ body, timestamp, signature, nowMs }) => {
    const claimed = signaturesIn(signature ?? '');
    if (claimed.length === 0) return 'no_signature';
    if (timestamp === null || !/^\d{1,15}$/.test(timestamp)) return 'bad_timestamp';
    if (Math.abs(nowMs - Number(timestamp) * 1000) > toleranceMs) return 'outside_tolerance';
    const head = encoder.encode(`${timestamp}.`);
    const signed = new Uint8Array(head.length + body.length);
    signed.set(head);
    signed.set(body, head.length);
    // No early way out: how long this takes tells nothing about which of them came close.
    let matches = 0;
    keys ??= Promise.all(all.map(importSecret));
    for (const key of await keys) {
      const expected = new Uint8Array(await crypto.subtle.sign('HMAC', key, signed));
      for (const candidate of claimed) matches |= equal(expected, candidate);
    }
    return matches === 1 ? 'valid' : 'wrong_signature';
  };
}

function importSecret(secret: string): Promise<CryptoKey> {
  const bytes = new TextEncoder().encode(secret);
  return crypto.subtle.importKey('raw', bytes, { name: 'HMAC', hash: 'SHA-256' }, false, ['sign']);
}

/** The `v1=` parts that are whole. Other schemes may stand beside them one day and are passed over. */
function signaturesIn(header: string): Uint8Array[] {
  const found: Uint8Array[] = [];
  for (const part of header.split(',')) {
    const hex = /^v1=([0-9a-fA-F]{64})$/.exec(part.trim())?.[1];
    if (hex === undefined) continue;
    found.push(
      Uint8Array.from({ length: 32 }, (_, i) => Number.parseInt(hex.slice(2 * i, 2 * i + 2), 16)),
    );
  }
  return found;
}

/** 1 when all bytes are equal, 0 otherwise, in the same time either way. */
function equal(a: Uint8Array, b: Uint8Array): 0 | 1 {
  let difference = a.length ^ b.length;
  for (let i = 0; i < a.length; i += 1) difference |= (a[i] ?? 0) ^ (b[i] ?? 0);
  return difference === 0 ? 1 : 0;
}
