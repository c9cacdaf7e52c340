import { badRequest, Refusal } from './answer.ts';
import { MAX_BODY_BYTES, REFUSALS } from './assumptions.ts';

/**
 * The body of a request as text. Throws the refusal for one that is too large (which is not read to its
 * end), is not UTF-8, or breaks off.
 */
export async function readBody(request: Request): Promise<string> {
  if (request.body === null) return '';
  const reader = request.body.getReader();
  const decoder = new TextDecoder('utf-8', { fatal: true });
  let text = '';
  let bytes = 0;
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return text + decoder.decode();
      bytes += value.byteLength;
      if (bytes > MAX_BODY_BYTES) break;
      text += decoder.decode(value, { stream: true });
    }
  } catch (error) {
    // The decoder's error is a TypeError; any other comes from the connection.
    throw badRequest(
      error instanceof TypeError
        ? 'The body is not UTF-8.'
        : `The body broke off: ${String(error)}`,
    );
  }
  letGo(reader);
  throw new Refusal(REFUSALS.bodyTooLarge, `The body has more than ${MAX_BODY_BYTES} bytes.`);
}

function letGo(reader: ReadableStreamDefaultReader<Uint8Array>): void {
  // Not awaited: MSW keeps a clone of every request, and a cancel resolves only when both are canceled.
  reader.cancel().catch(() => {
    // The connection is gone already, which is all that was wanted.
  });
}
