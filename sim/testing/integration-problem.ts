/** What keeps a value from being an integration of the kit's form, as the rest of a sentence; null if nothing does. */
export function integrationProblem(value: unknown): string | null {
  if (typeof value !== 'object' || value === null) {
    return `it is ${value === null ? 'null' : `a ${typeof value}`}, and should be an object with setup, start and readJob`;
  }
  const given = value as Record<string, unknown>;
  for (const name of ['setup', 'start', 'readJob']) {
    if (typeof given[name] !== 'function') {
      return `${name} is ${describe(given[name])}, and should be a function`;
    }
  }
  for (const name of ['readParked', 'readEffects']) {
    if (given[name] !== undefined && typeof given[name] !== 'function') {
      return `${name} is ${describe(given[name])}, and should be a function or left out`;
    }
  }
  for (const [name, word] of [
    ['sweep', 'elsewhere'],
    ['fetch', 'global'],
  ] as const) {
    if (given[name] !== undefined && given[name] !== word) {
      return `${name} is ${describe(given[name])}, and should be "${word}" or left out; what start() returns does the work`;
    }
  }
  return null;
}

function describe(value: unknown): string {
  if (value === undefined) return 'missing';
  if (value === null) return 'null';
  return typeof value === 'string' ? `"${value}"` : `a ${typeof value}`;
}
