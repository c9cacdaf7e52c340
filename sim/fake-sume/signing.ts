import { BadOptionError } from './errors.ts';

/** Signs webhook bodies as Sume does. */
export interface Signer {
  /**
   * The value of `X-Sume-Signature`: one `v1=<hex>` part for each secret, newest first.
   *
   * @param timestamp Unix seconds, as in `X-Sume-Timestamp`.
   * @param body the bytes as they go out, as text.
   */
  sign(timestamp: number, body: string): Promise<string>;
}

/**
 * HMAC-SHA256 over `${timestamp}.${body}`, keyed with the signing secret, by WebCrypto. The fake has signing
 * code of its own: an oracle must not share it with the verifier that it checks.
 *
 * @param secrets newest first; during a rotation all of them sign. None, or an empty one, is refused with
 * `BadOptionError`: anybody could sign with it.
 */
export function createSigner(secrets: readonly string[]): Signer {
  if (secrets.length === 0) {
    throw new BadOptionError('secrets is empty: give at least one signing secret.');
  }
  if (secrets.includes('')) {
    throw new BadOptionError('secrets holds an empty string: anybody could sign with it.');
  }
  let keys: Promise<CryptoKey[]> | undefined;
  return {
    async sign(timestamp, body) {
      keys ??= Promise.all(secrets.map(importSecret));
      const message = new TextEncoder().encode(`${timestamp}.${body}`);
      const parts: string[] = [];
      for (const key of await keys) {
        parts.push(`v1=${toHex(await crypto.subtle.sign('HMAC', key, message))}`);
      }
      return parts.join(',');
    },
  };
}

function importSecret(secret: string): Promise<CryptoKey> {
  return crypto.subtle.importKey(
    'raw',
    new TextEncoder().encode(secret),
    { name: 'HMAC', hash: 'SHA-256' },
    false,
    ['sign'],
  );
}

function toHex(bytes: ArrayBuffer): string {
  return Array.from(new Uint8Array(bytes), (byte) => byte.toString(16).padStart(2, '0')).join('');
}
