import type { Answer } from '../answer.ts';
import type { Arrival } from '../arrival.ts';
import { BadControlError, BadOptionError, StillWaitingError, UnknownJobError } from '../errors.ts';
import { Refusal } from '../answer.ts';
import { shapeProblem } from '../json-shape.ts';
import { controlRefusal } from './access.ts';
import { BadCallError, type ControlScope, type Operation } from './operation.ts';
import { writeOpenApi } from './openapi.ts';

/** Where the control API is. */
export const CONTROL_PATH = '/__sim';

/**
 * Answers a request below `/__sim`. Everything has a definite answer: `{ error: { code, message } }` for what
 * does not fit.
 */
export async function answerControl(
  arrival: Arrival,
  options: {
    operations: readonly Operation[];
    scope: () => ControlScope;
    /** What the server listens on, and its own address. */
    boundHost: string;
    serverUrl: string;
  },
): Promise<Answer> {
  const { operations } = options;
  const forbidden = controlRefusal(
    {
      host: arrival.header('host'),
      origin: arrival.header('origin'),
      fetchSite: arrival.header('sec-fetch-site'),
    },
    options.boundHost,
  );
  if (forbidden !== null) return refuse(403, 'forbidden', forbidden);
  const path = arrival.pathname.slice(CONTROL_PATH.length) || '/';
  if (arrival.method === 'GET' && path === '/openapi.json') {
    return json(200, writeOpenApi(operations, `${options.serverUrl}${CONTROL_PATH}`));
  }
  if (arrival.method === 'GET' && path === '/') {
    return json(200, {
      description: `${options.serverUrl}${CONTROL_PATH}/openapi.json`,
      operations: operations.map(({ method, path: template, summary, example }) => ({
        operation: `${method} ${CONTROL_PATH}${template}`,
        summary,
        ...(example === undefined ? {} : { example }),
      })),
    });
  }
  try {
    return await perform(arrival, path, operations, options.scope);
  } catch (error) {
    return refuseFor(error);
  }
}

async function perform(
  arrival: Arrival,
  path: string,
  operations: readonly Operation[],
  scope: () => ControlScope,
): Promise<Answer> {
  const here = operations.flatMap((operation) => {
    const parameters = fitPath(operation.path, path);
    return parameters === null ? [] : [{ operation, parameters }];
  });
  const found = here.find(({ operation }) => operation.method === arrival.method);
  if (found === undefined) {
    const methods = here.map(({ operation }) => operation.method).join(', ');
    return methods === ''
      ? refuse(404, 'unknown_operation', `There is no ${path}: ${whereIs(path, operations)}`)
      : refuse(405, 'method_not_allowed', `${path} takes ${methods}.`, { allow: methods });
  }
  const { operation, parameters } = found;
  const query = Object.fromEntries(new URLSearchParams(arrival.search));
  const unknown = Object.keys(query).find((name) => !Object.hasOwn(operation.query ?? {}, name));
  if (unknown !== undefined) throw new BadCallError(`The query ${unknown} is not known here.`);
  const body = await readCall(arrival, operation);
  return json(200, await operation.run(scope(), { path: parameters, query, body }));
}

/** Where to look for what a path asked for. Its last word may be the name of a verb of the control object. */
function whereIs(path: string, operations: readonly Operation[]): string {
  const word = path.slice(path.lastIndexOf('/') + 1);
  const meant = operations.find(({ id }) => id === word);
  return meant === undefined
    ? `GET ${CONTROL_PATH}/ shows what is.`
    : `${word} is ${meant.method} ${CONTROL_PATH}${meant.path}.`;
}

/** The body of a call, checked against the operation's shape. */
async function readCall(
  arrival: Arrival,
  operation: Operation,
): Promise<Readonly<Record<string, unknown>>> {
  if (operation.body === undefined) return {};
  const text = await arrival.body();
  const type = arrival.header('content-type');
  if (text !== '' && !/^application\/json *(;|$)/i.test(type ?? '')) {
    throw new BadCallError(
      `The content type is ${JSON.stringify(type)}: send application/json, or no body.`,
    );
  }
  let body: unknown = {};
  try {
    if (text !== '') body = JSON.parse(text);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw new BadCallError(`The body is not JSON: ${error.message}`);
  }
  const problem = shapeProblem(body, operation.body, 'body');
  if (problem !== null) throw new BadCallError(problem);
  return body as Record<string, unknown>;
}

/** The parameters of a path that fits a template, decoded; null for one that does not. */
function fitPath(template: string, path: string): Record<string, string> | null {
  const wanted = template.split('/');
  const given = path.split('/');
  if (wanted.length !== given.length) return null;
  const parameters: Record<string, string> = {};
  for (const [index, part] of wanted.entries()) {
    const segment = given[index] ?? '';
    const name = /^\{(\w+)\}$/.exec(part)?.[1];
    if (name === undefined) {
      if (part !== segment) return null;
    } else {
      if (segment === '') return null;
      parameters[name] = decode(segment);
    }
  }
  return parameters;
}

function decode(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch (error) {
    if (!(error instanceof URIError)) throw error;
    throw new BadCallError(`${segment} holds a percent-escape that is no UTF-8.`);
  }
}

function refuseFor(error: unknown): Answer {
  if (error instanceof UnknownJobError) return refuse(404, error.code, error.message);
  if (error instanceof StillWaitingError) {
    return json(409, {
      error: { code: error.code, message: error.message, waitingFor: error.waitingFor },
    });
  }
  if (
    error instanceof BadCallError ||
    error instanceof BadControlError ||
    error instanceof BadOptionError
  ) {
    return refuse(400, error.code, error.message);
  }
  if (error instanceof Refusal) return refuse(error.status, error.code, error.message);
  throw error;
}

function refuse(
  status: number,
  code: string,
  message: string,
  headers: Record<string, string> = {},
): Answer {
  const answer = json(status, { error: { code, message } });
  return { ...answer, headers: { ...answer.headers, ...headers } };
}

function json(status: number, value: unknown): Answer {
  // Indented, because people read it in a terminal.
  return {
    status,
    headers: { 'content-type': 'application/json', 'cache-control': 'no-store' },
    body: `${JSON.stringify(value, null, 2)}\n`,
  };
}
