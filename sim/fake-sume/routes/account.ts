import { success, type Answer } from '../answer.ts';
import { stableHash } from '../stable-hash.ts';

/** `GET /health`. */
export function health(): Answer {
  return success({ status: 'ok' });
}

/**
 * `GET /me`: the account of the key.
 *
 * @param credits how many jobs it can still submit; null for no end of them.
 */
export function me(apiKey: string, credits: number | null): Answer {
  return success({
    id: `acct_${stableHash('account', apiKey).slice(0, 12)}`,
    // Enough to recognize the key by, too little to use it.
    api_key: `${apiKey.slice(0, 10)}…`,
    credits,
  });
}
