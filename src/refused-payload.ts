import type { Payload } from './news.ts';
import { isRefusedData } from './sqlstate.ts';

/**
 * Thrown at the statement that carries a result or an error which `jsonb` refused. Its own class, so that the
 * same SQLSTATE from a hook's statement is never taken for it.
 */
class RefusedPayload extends Error {
  override readonly name = 'RefusedPayload';
  readonly code = 'refused_payload';
}

/** Runs the statement that carries a payload, and marks its refusal. */
export async function carrying<T>(statement: () => Promise<T>): Promise<T> {
  try {
    return await statement();
  } catch (error) {
    if (!isRefusedData(error)) throw error;
    throw new RefusedPayload('jsonb refused the result or error of a job.', { cause: error });
  }
}

/**
 * Runs work with its payload, and once more without when `jsonb` refused it. The work must be whole: an error
 * ends the transaction it happened in, so what is repeated is the transaction and not the statement.
 */
export async function toleratingRefusal<T>(work: (payload: Payload) => Promise<T>): Promise<T> {
  try {
    return await work('kept');
  } catch (error) {
    if (!(error instanceof RefusedPayload)) throw error;
  }
  try {
    return await work('dropped');
  } catch (error) {
    // Refused without any payload: it was something else, and that is what the caller should see.
    if (error instanceof RefusedPayload) throw error.cause;
    throw error;
  }
}
