import type { JsonShape } from '../json-shape.ts';
import type { JsonObject } from '../wire-json.ts';
import type { Operation } from './operation.ts';

/**
 * The OpenAPI document of the control API, written from the same table that serves it.
 *
 * @param serverUrl where the control API is.
 */
export function writeOpenApi(operations: readonly Operation[], serverUrl: string): unknown {
  const paths: Record<string, Record<string, unknown>> = {};
  for (const operation of operations) {
    const path = (paths[operation.path] ??= {});
    path[operation.method.toLowerCase()] = describe(operation);
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Control of a fake Sume',
      version: '1.0.0',
      description:
        'Everything that a test can do to the fake behind its clients’ back. A namespace of its own is ' +
        'chosen by the header X-Sume-Sim-Namespace, here and for the clients.',
    },
    servers: [{ url: serverUrl }],
    paths,
    components: {
      parameters: {
        namespace: {
          name: 'X-Sume-Sim-Namespace',
          in: 'header',
          required: false,
          schema: { type: 'string', pattern: '^[A-Za-z0-9_-]{1,64}$' },
        },
      },
      schemas: {
        Error: {
          type: 'object',
          properties: {
            error: {
              type: 'object',
              properties: {
                code: { type: 'string' },
                message: { type: 'string' },
                waitingFor: { type: 'array', items: { type: 'string' } },
              },
              required: ['code', 'message'],
            },
          },
          required: ['error'],
        },
      },
    },
  };
}

function describe(operation: Operation): unknown {
  const inPath = [...operation.path.matchAll(/\{(\w+)\}/g)].map(([, name]) => ({
    name,
    in: 'path',
    required: true,
    schema: { type: 'string' },
  }));
  const inQuery = Object.entries(operation.query ?? {}).map(([name, description]) => ({
    name,
    in: 'query',
    required: false,
    description,
    schema: { type: 'string' },
  }));
  return {
    operationId: operation.id,
    summary: operation.summary,
    parameters: [{ $ref: '#/components/parameters/namespace' }, ...inPath, ...inQuery],
    ...(operation.body === undefined
      ? {}
      : { requestBody: requestBody(operation.body, operation.example) }),
    responses: {
      '200': {
        description: 'Done.',
        content: { 'application/json': { schema: { type: 'object' } } },
      },
      default: {
        description: 'Refused, with the reason.',
        content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } },
      },
    },
  };
}

function requestBody(schema: JsonShape, example: JsonObject | undefined): unknown {
  const required = 'required' in schema && (schema.required ?? []).length > 0;
  const shown = example === undefined ? {} : { example };
  return { required, content: { 'application/json': { schema, ...shown } } };
}
