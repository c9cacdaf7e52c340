import type { JobStatus } from './status.ts';
import type { CallOptions, StatusAnswer, SumeClient } from './sume-client.ts';

/** What Sume told when asked about one job. */
export interface Polled {
  /** Null when the word was not known: nothing may be written. */
  status: JobStatus | null;
  /** The word itself, as Sume wrote it. */
  word: string | null;
  /** Null unless the job was seen completed, or its result ready, and the result was read. */
  result: unknown;
  /** The raw text that the result was read from. */
  body?: string;
  /** Why the result could not be read, where it should have been. */
  resultError?: unknown;
}

/**
 * Reads where a job stands, and its result only once Sume said that there is one: never after an answer that
 * said processing. A result that cannot be read is no reason to lose the status, so that failure is handed back
 * beside it; a status that cannot be read rejects.
 */
export async function readFromSume(
  client: Pick<SumeClient, 'status' | 'result'>,
  jobId: string,
  options: CallOptions = {},
): Promise<Polled> {
  const told: StatusAnswer = await client.status(jobId, options);
  const { status, word } = told;
  const open = status === 'queued' || status === 'processing';
  if (status !== 'completed' && !(open && told.resultReady)) return { status, word, result: null };
  try {
    const answer = await client.result(jobId, options);
    // Ready before the status says so: the answer with the result says where the job stands by now.
    const ended = open && answer.status === 'completed';
    if (open && !ended) return { status, word, result: null };
    return { status: 'completed', word, result: answer.result, body: answer.body };
  } catch (resultError) {
    if (options.signal?.aborted === true) throw resultError;
    return { status, word, result: null, resultError };
  }
}
