import { createHmac } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { InputError } from '../../../src/errors.ts';
import { createSignatureVerifier, type SignedDelivery } from '../../../src/signature.ts';

const SECRET = 'whsec_test';
const NOW_S = 1_780_000_000;

/** Sume's signature, made by another implementation than the one under test. */
const sign = (secret: string, timestamp: string, body: Uint8Array | string): string =>
  createHmac('sha256', secret).update(`${timestamp}.`).update(body).digest('hex');

const delivery = (change: Partial<SignedDelivery> = {}): SignedDelivery => {
  const body = new TextEncoder().encode('{"event":"job.completed"}');
  const timestamp = String(NOW_S);
  return {
    body,
    timestamp,
    signature: `v1=${sign(SECRET, timestamp, body)}`,
    nowMs: NOW_S * 1000,
    ...change,
  };
};

describe('a signature', () => {
  test('of these very bytes with this secret is valid', async () => {
    const verify = createSignatureVerifier(SECRET);
    await fc.assert(
      fc.asyncProperty(
        fc.uint8Array({ maxLength: 300 }),
        fc.string({ unit: 'grapheme', minLength: 1 }),
        async (body, secret) => {
          const signature = `v1=${sign(secret, String(NOW_S), body)}`;
          expect(await createSignatureVerifier(secret)(delivery({ body, signature }))).toBe(
            'valid',
          );
          expect(await verify(delivery({ body, signature }))).toBe(
            secret === SECRET ? 'valid' : 'wrong_signature',
          );
        },
      ),
    );
  });

  test('a known vector: the value that openssl prints', async () => {
    // printf '1780000000.{}' | openssl dgst -sha256 -hmac whsec_test
    const signature = 'v1=b609026af9e57aacaa80bc40f33504841d55b898bf7a94ef9c45d964ea2171a4';
    const verify = createSignatureVerifier(SECRET);
    expect(await verify(delivery({ body: new TextEncoder().encode('{}'), signature }))).toBe(
      'valid',
    );
  });

  test('of a body with one bit changed, added or taken away is wrong', async () => {
    const verify = createSignatureVerifier(SECRET);
    await fc.assert(
      fc.asyncProperty(
        fc.uint8Array({ minLength: 1, maxLength: 64 }),
        fc.nat(),
        fc.nat({ max: 7 }),
        async (body, at, bit) => {
          const signature = `v1=${sign(SECRET, String(NOW_S), body)}`;
          const flipped = Uint8Array.from(body);
          const index = at % body.length;
          flipped[index] = (flipped[index] ?? 0) ^ (1 << bit);
          const longer = Uint8Array.from([...body, 0]);
          for (const other of [flipped, longer, body.slice(1)]) {
            expect(await verify(delivery({ body: other, signature }))).toBe('wrong_signature');
          }
        },
      ),
    );
  });

  test('re-serialised JSON is other bytes', async () => {
    const sent = '{ "a" : 1.0 }';
    const signature = `v1=${sign(SECRET, String(NOW_S), sent)}`;
    const again = new TextEncoder().encode(JSON.stringify(JSON.parse(sent)));
    expect(await createSignatureVerifier(SECRET)(delivery({ body: again, signature }))).toBe(
      'wrong_signature',
    );
  });

  test('one right part among several is enough, with spaces, upper case and other schemes', async () => {
    const verify = createSignatureVerifier(SECRET);
    const right = sign(SECRET, String(NOW_S), delivery().body);
    const wrong = sign('another', String(NOW_S), delivery().body);
    for (const signature of [
      `v1=${wrong},v1=${right}`,
      `v1=${right}, v1=${wrong}`,
      ` v1=${wrong} ,\tv1=${right} `,
      `v1=${right.toUpperCase()}`,
      `v0=old,v2=new,v1=${right}`,
    ]) {
      expect(await verify(delivery({ signature }))).toBe('valid');
    }
  });

  test('during a rotation both secrets are good, and a third is not', async () => {
    const verify = createSignatureVerifier(['new', 'old']);
    const by = (secret: string): SignedDelivery =>
      delivery({ signature: `v1=${sign(secret, String(NOW_S), delivery().body)}` });
    expect(await verify(by('old'))).toBe('valid');
    expect(await verify(by('new'))).toBe('valid');
    expect(await verify(by('third'))).toBe('wrong_signature');
  });

  test.each([
    null,
    '',
    'v1=',
    'v1=zz',
    `v1=${'a'.repeat(63)}`,
    `v1=${'a'.repeat(65)}`,
    `V1=${'a'.repeat(64)}`,
    'a'.repeat(64),
  ])('%j is none', async (signature) => {
    expect(await createSignatureVerifier(SECRET)(delivery({ signature }))).toBe('no_signature');
  });
});

describe('a timestamp', () => {
  const at = (timestamp: string): SignedDelivery =>
    delivery({ timestamp, signature: `v1=${sign(SECRET, timestamp, delivery().body)}` });

  test('300 s off to either side is inside, one more is not', async () => {
    const verify = createSignatureVerifier(SECRET);
    expect(await verify(at(String(NOW_S - 300)))).toBe('valid');
    expect(await verify(at(String(NOW_S + 300)))).toBe('valid');
    expect(await verify(at(String(NOW_S - 301)))).toBe('outside_tolerance');
    expect(await verify(at(String(NOW_S + 301)))).toBe('outside_tolerance');
    expect(await verify({ ...at(String(NOW_S - 300)), nowMs: NOW_S * 1000 + 1 })).toBe(
      'outside_tolerance',
    );
  });

  test.each([
    '',
    ' ',
    '-1',
    '+1780000000',
    '1780000000.0',
    '1.78e9',
    '0x6A18',
    '1780000000 ',
    '１７８',
    '9'.repeat(16),
    'now',
    '1780000000, 1780000000',
  ])('%j is not whole Unix seconds, even signed as it is', async (timestamp) => {
    expect(await createSignatureVerifier(SECRET)(at(timestamp))).toBe('bad_timestamp');
  });

  test('a missing one is not a way around the tolerance', async () => {
    expect(await createSignatureVerifier(SECRET)(delivery({ timestamp: null }))).toBe(
      'bad_timestamp',
    );
  });

  test('milliseconds are far outside, not near enough', async () => {
    expect(await createSignatureVerifier(SECRET)(at(String(NOW_S * 1000)))).toBe(
      'outside_tolerance',
    );
  });

  test('it is signed too: moving it breaks the signature', async () => {
    expect(await createSignatureVerifier(SECRET)(delivery({ timestamp: String(NOW_S + 1) }))).toBe(
      'wrong_signature',
    );
  });
});

test.each([[''], [[]], [['good', '']]])('the secrets %j are refused at construction', (secrets) => {
  expect(() => createSignatureVerifier(secrets)).toThrow(InputError);
});

test.each([Number.NaN, -1, Number.POSITIVE_INFINITY])(
  'the tolerance %d is refused',
  (toleranceMs) => {
    expect(() => createSignatureVerifier(SECRET, { toleranceMs })).toThrow(InputError);
  },
);
