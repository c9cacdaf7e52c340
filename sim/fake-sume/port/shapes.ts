import type { JsonShape } from '../json-shape.ts';
import { ROUTE_NAMES } from '../route-table.ts';

// Shapes that several operations of the control API share.

/** Any text. */
export const text: JsonShape = { type: 'string' };
export const count: JsonShape = { type: 'integer', minimum: 1, maximum: 10_000 };
export const anyObject: JsonShape = { type: 'object', properties: {}, additionalProperties: true };
export const errorShape: JsonShape = {
  type: 'object',
  properties: { code: text, message: text },
  required: ['code', 'message'],
  additionalProperties: false,
};
export const artifacts: JsonShape = {
  type: 'array',
  items: {},
  description: 'The outputs of the job.',
};
export const pushed: JsonShape = { type: 'string', enum: ['completed', 'failed', 'canceled'] };
export const route: JsonShape = { type: 'string', enum: ROUTE_NAMES };
export const url: JsonShape = {
  type: 'string',
  description: 'Where to send it, if not to the webhook address of the job.',
};

/** An object with these fields and no others. */
export function object(
  properties: Record<string, JsonShape>,
  required: readonly string[] = [],
): JsonShape {
  return { type: 'object', properties, required, additionalProperties: false };
}

/** Which deliveries are meant. */
export const deliveryFilter: Readonly<Record<string, JsonShape>> = {
  jobId: text,
  event: text,
  kind: {
    type: 'string',
    enum: [
      'event',
      'duplicate',
      'contradiction',
      'announcement',
      'replay',
      'forged',
      'tampered',
      'stale',
    ],
  },
};
