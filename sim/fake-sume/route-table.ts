/** The routes of Sume that the fake knows. */
export type RouteName =
  'submit' | 'list' | 'job' | 'status' | 'result' | 'events' | 'cancel' | 'health' | 'me';

interface Route {
  name: RouteName;
  method: 'GET' | 'POST';
  /** Below the base URL. `{job}` is one segment; `{model}` is one or more. */
  template: string;
}

const ROUTES: readonly Route[] = [
  { name: 'submit', method: 'POST', template: 'models/{model}/runs' },
  { name: 'list', method: 'GET', template: 'jobs' },
  { name: 'job', method: 'GET', template: 'jobs/{job}' },
  { name: 'status', method: 'GET', template: 'jobs/{job}/status' },
  { name: 'result', method: 'GET', template: 'jobs/{job}/result' },
  { name: 'events', method: 'GET', template: 'jobs/{job}/events' },
  { name: 'cancel', method: 'POST', template: 'jobs/{job}/cancel' },
  { name: 'health', method: 'GET', template: 'health' },
  { name: 'me', method: 'GET', template: 'me' },
];

/** Every route's name, for messages and for checking a name that came from outside. */
export const ROUTE_NAMES: readonly RouteName[] = ROUTES.map((route) => route.name);

/** What a method and a path below the base URL lead to. */
export type RouteMatch =
  /** `parameter`: the job id or the model id, decoded; empty where the route has none. */
  | { kind: 'route'; name: RouteName; parameter: string }
  | { kind: 'wrong-method'; name: RouteName; allow: string }
  /** A percent-escape that is no UTF-8. */
  | { kind: 'malformed' }
  /** `nearest`: the known route that is spelt most like it, as `GET /jobs/{job}`. */
  | { kind: 'unknown'; nearest: string };

/**
 * Finds the route of a request.
 *
 * @param path what follows the base URL, without the query: `/jobs/job_1/status`. Segments may be
 * percent-encoded, so an id may hold anything, slashes included; a model id may hold slashes as they are.
 */
export function matchRoute(method: string, path: string): RouteMatch {
  const raw = path.replace(/^\//, '').split('/');
  const segments = decodeAll(raw);
  if (segments === null) return { kind: 'malformed' };
  let otherMethod: Route | undefined;
  for (const route of ROUTES) {
    const parameter = fit(route, segments);
    if (parameter === null) continue;
    if (route.method === method) return { kind: 'route', name: route.name, parameter };
    otherMethod = route;
  }
  if (otherMethod !== undefined) {
    return { kind: 'wrong-method', name: otherMethod.name, allow: otherMethod.method };
  }
  return { kind: 'unknown', nearest: nearestTo(segments) };
}

/** The parameter if the segments fit the route, else null. */
function fit(route: Route, segments: readonly string[]): string | null {
  const template = route.template.split('/');
  if (route.name === 'submit') {
    const model = segments.slice(1, -1);
    return segments.length >= 3 &&
      segments[0] === 'models' &&
      segments.at(-1) === 'runs' &&
      model.every((part) => part !== '')
      ? model.join('/')
      : null;
  }
  if (template.length !== segments.length) return null;
  let parameter = '';
  for (const [index, part] of template.entries()) {
    const segment = segments[index] ?? '';
    if (part === '{job}') {
      if (segment === '') return null;
      parameter = segment;
    } else if (part !== segment) {
      return null;
    }
  }
  return parameter;
}

function decodeAll(segments: readonly string[]): string[] | null {
  try {
    return segments.map(decodeURIComponent);
  } catch (error) {
    if (error instanceof URIError) return null;
    throw error;
  }
}

function nearestTo(segments: readonly string[]): string {
  let best = { distance: Number.POSITIVE_INFINITY, name: '' };
  for (const route of ROUTES) {
    const distance = pathDistance(segments, route.template.split('/'));
    if (distance < best.distance) {
      best = { distance, name: `${route.method} /${route.template}` };
    }
  }
  return best.name;
}

/** How far a path is from a template, in letters; a parameter takes any segment at no cost. */
function pathDistance(segments: readonly string[], template: readonly string[]): number {
  // The segments that a model id spreads over count as one.
  const extra = template.includes('{model}') ? Math.max(0, segments.length - template.length) : 0;
  const folded = [...segments.slice(0, 1), ...segments.slice(1 + extra)];
  const length = Math.max(folded.length, template.length);
  let distance = 0;
  for (let index = 0; index < length; index += 1) {
    const segment = folded[index] ?? '';
    const part = template[index] ?? '';
    if (part.startsWith('{') && segment !== '') continue;
    distance += editDistance(segment.slice(0, 64), part);
  }
  return distance;
}

/** Levenshtein's distance: insertions, deletions and substitutions. */
function editDistance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (const [fromIndex, letter] of Array.from(from).entries()) {
    const next = [fromIndex + 1];
    for (let index = 1; index <= to.length; index += 1) {
      const substituted = (row[index - 1] ?? 0) + (letter === to[index - 1] ? 0 : 1);
      next.push(Math.min((next[index - 1] ?? 0) + 1, (row[index] ?? 0) + 1, substituted));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}
