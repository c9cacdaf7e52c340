import { Refusal } from './answer.ts';
import type { Arrival } from './arrival.ts';
import { BUCKET, OPEN_ROUTES, REFUSALS } from './assumptions.ts';
import type { LimitCounter } from './limits.ts';
import type { RouteName } from './route-table.ts';

/** Jobs that can still be submitted; null for no end of them. */
export interface Purse {
  credits: number | null;
}

/** Who is let in, how often, and for how many jobs. */
export interface Admission {
  /** The key of a request. Throws the 401 for one that is not known, where the route wants one. */
  authenticate(route: RouteName, arrival: Arrival): string;
  /** The `RateLimit-…` headers for the answer; none without limits. Throws the 429. */
  count(route: RouteName, apiKey: string): Record<string, string>;
  /** Takes one credit. Throws the 402. */
  spendCredit(): void;
}

/** @param apiKeys undefined lets any key in. */
export function createAdmission(options: {
  apiKeys: readonly string[] | undefined;
  limits: LimitCounter | null;
  purse: Purse;
}): Admission {
  const { apiKeys, limits, purse } = options;
  return {
    authenticate(route, arrival) {
      const bearer = /^Bearer +(\S+)$/i.exec(arrival.header('authorization') ?? '')?.[1];
      const key = bearer ?? arrival.header('x-api-key') ?? '';
      const good = key !== '' && (apiKeys === undefined || apiKeys.includes(key));
      if (!good && !OPEN_ROUTES.has(route)) {
        throw new Refusal(
          REFUSALS.unauthorized,
          key === ''
            ? 'No API key: send it as "Authorization: Bearer KEY" or as "x-api-key: KEY".'
            : 'This API key is not known.',
        );
      }
      return key;
    },

    count(route, apiKey) {
      const bucket = BUCKET[route];
      return limits === null || bucket === null ? {} : limits.take(apiKey, bucket);
    },

    spendCredit() {
      if (purse.credits === null) return;
      if (purse.credits === 0) {
        throw new Refusal({ status: 402, code: 'insufficient_credits' }, 'No credits are left.');
      }
      purse.credits -= 1;
    },
  };
}
