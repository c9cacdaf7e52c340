import { Refusal } from './answer.ts';
import { REFUSALS } from './assumptions.ts';
import type { RouteMatch } from './route-table.ts';

/**
 * Why a request leads nowhere, and what would: the base URL, the method or the nearest route.
 *
 * @param match null for a path that is not below the base URL at all.
 */
export function refuseUnknown(
  request: { method: string; path: string },
  match: Exclude<RouteMatch, { kind: 'route' }> | null,
  baseUrl: string,
): Refusal {
  if (match === null) {
    return new Refusal(
      REFUSALS.unknownRoute,
      `${request.path} is not below the base URL of this fake Sume: ask below ${baseUrl}/.`,
    );
  }
  if (match.kind === 'wrong-method') {
    return new Refusal(
      REFUSALS.wrongMethod,
      `${request.method} ${request.path}: this route takes ${match.allow}.`,
      { headers: { allow: match.allow } },
    );
  }
  if (match.kind === 'malformed') {
    return new Refusal(
      REFUSALS.badRequest,
      `${request.path} holds a percent-escape that is no UTF-8.`,
    );
  }
  return new Refusal(
    REFUSALS.unknownRoute,
    `${request.method} ${request.path} is no route of Sume that this fake knows. The nearest is ` +
      `${match.nearest}, below ${baseUrl}.`,
    { details: { nearest: match.nearest } },
  );
}
