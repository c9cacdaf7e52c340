import { createHmac } from 'node:crypto';

/**
 * A delivery as Sume sends it. Signed here with Node's own HMAC, so that the code under test is not asked
 * to vouch for itself.
 */
export function signedDelivery(body: string, secret: string, atMs: number): Request {
  const timestamp = String(Math.floor(atMs / 1_000));
  const signature = createHmac('sha256', secret).update(`${timestamp}.${body}`).digest('hex');
  return new Request('https://service.example/webhooks/sume', {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'x-sume-timestamp': timestamp,
      'x-sume-signature': `v1=${signature}`,
    },
    body,
  });
}
