/**
 * The SQLSTATE of an error, or null. Looks through `cause`, because an ORM used in a hook wraps what the driver
 * threw. Race outcomes are told by this code, never by the text, which depends on the server's language.
 */
export function sqlStateOf(error: unknown): string | null {
  const seen = new Set<unknown>();
  let current: unknown = error;
  while (typeof current === 'object' && current !== null && !seen.has(current)) {
    seen.add(current);
    const { code, cause } = current as { code?: unknown; cause?: unknown };
    // Node's own codes can be five capitals too (EPIPE). No SQLSTATE class begins with an E.
    if (typeof code === 'string' && /^[0-9A-DF-Z][0-9A-Z]{4}$/.test(code)) return code;
    current = cause;
  }
  return null;
}

/** 40001 serialization failure and 40P01 deadlock: the transaction left nothing behind and may run again. */
export function isRetryable(error: unknown): boolean {
  const state = sqlStateOf(error);
  return state === '40001' || state === '40P01';
}

/** Classes 22 (the value) and 54 (its depth or size): the data was refused, and will be every time. */
export function isRefusedData(error: unknown): boolean {
  const state = sqlStateOf(error);
  return state !== null && (state.startsWith('22') || state.startsWith('54'));
}
