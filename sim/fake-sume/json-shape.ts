/**
 * The part of JSON Schema that the fake's own inputs need. A shape is valid JSON Schema as it stands, so what
 * is checked and what the OpenAPI document says are one thing.
 */
export type JsonShape =
  | { type: 'string'; enum?: readonly string[]; description?: string }
  | { type: 'number' | 'integer'; minimum?: number; maximum?: number; description?: string }
  | { type: 'boolean'; description?: string }
  | {
      type: 'array';
      items: JsonShape;
      minItems?: number;
      maxItems?: number;
      description?: string;
    }
  | {
      type: 'object';
      properties: Readonly<Record<string, JsonShape>>;
      required?: readonly string[];
      additionalProperties: boolean;
      description?: string;
    }
  /** Null as well as what the inner shape takes. */
  | { anyOf: readonly [JsonShape, { type: 'null' }]; description?: string }
  /** Anything. */
  | { description?: string };

/**
 * Checks a value that came from outside.
 *
 * @param at how to name the value in the message: `body`, then `body.times`.
 * @returns what is wrong with it and what would do; null if nothing is.
 */
export function shapeProblem(value: unknown, shape: JsonShape, at: string): string | null {
  if ('anyOf' in shape) {
    return value === null ? null : shapeProblem(value, shape.anyOf[0], at);
  }
  if (!('type' in shape)) return null;
  switch (shape.type) {
    case 'string':
      if (typeof value !== 'string') return wrong(value, at, 'a string');
      if (shape.enum !== undefined && !shape.enum.includes(value)) {
        return wrong(value, at, `one of ${shape.enum.join(', ')}`);
      }
      return null;
    case 'number':
    case 'integer':
      return numberProblem(value, shape, at);
    case 'boolean':
      return typeof value === 'boolean' ? null : wrong(value, at, 'true or false');
    case 'array':
      return arrayProblem(value, shape, at);
    default:
      return objectProblem(value, shape, at);
  }
}

function numberProblem(
  value: unknown,
  shape: { type: 'number' | 'integer'; minimum?: number; maximum?: number },
  at: string,
): string | null {
  const { minimum = Number.NEGATIVE_INFINITY, maximum = Number.POSITIVE_INFINITY } = shape;
  const fits =
    typeof value === 'number' &&
    Number.isFinite(value) &&
    value >= minimum &&
    value <= maximum &&
    (shape.type === 'number' || Number.isInteger(value));
  if (fits) return null;
  const what = shape.type === 'integer' ? 'a whole number' : 'a number';
  const from = shape.minimum === undefined ? '' : ` from ${shape.minimum}`;
  const to = shape.maximum === undefined ? '' : ` to ${shape.maximum}`;
  return wrong(value, at, `${what}${from}${to}`);
}

function arrayProblem(
  value: unknown,
  shape: { items: JsonShape; minItems?: number; maxItems?: number },
  at: string,
): string | null {
  const { minItems = 0, maxItems = Number.POSITIVE_INFINITY } = shape;
  if (!Array.isArray(value)) return wrong(value, at, 'an array');
  if (value.length < minItems || value.length > maxItems) {
    const count = minItems === maxItems ? `exactly ${minItems}` : `at least ${minItems}`;
    return wrong(value, at, `an array of ${count}`);
  }
  for (const [index, item] of value.entries()) {
    const problem = shapeProblem(item, shape.items, `${at}[${index}]`);
    if (problem !== null) return problem;
  }
  return null;
}

function objectProblem(
  value: unknown,
  shape: {
    properties: Readonly<Record<string, JsonShape>>;
    required?: readonly string[];
    additionalProperties: boolean;
  },
  at: string,
): string | null {
  if (value === null || typeof value !== 'object' || Array.isArray(value)) {
    return wrong(value, at, 'an object');
  }
  for (const name of shape.required ?? []) {
    if (!Object.hasOwn(value, name)) return `${at}.${name} is missing: give it.`;
  }
  for (const [name, inner] of Object.entries(value)) {
    const innerShape = Object.hasOwn(shape.properties, name) ? shape.properties[name] : undefined;
    if (innerShape !== undefined) {
      const problem = shapeProblem(inner, innerShape, `${at}.${name}`);
      if (problem !== null) return problem;
    } else if (!shape.additionalProperties) {
      const known = Object.keys(shape.properties);
      return `${at}.${name} is not known: ${known.length === 0 ? 'leave it out' : `give ${known.join(', ')}`}.`;
    }
  }
  return null;
}

function wrong(value: unknown, at: string, wanted: string): string {
  const shown = value === undefined ? 'not there' : JSON.stringify(value);
  return `${at} is ${shown.length > 100 ? `${shown.slice(0, 100)}…` : shown}: give ${wanted}.`;
}
