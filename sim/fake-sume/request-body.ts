import { badRequest, Refusal } from './answer.ts';
import { MAX_BODY_BYTES, REFUSALS } from './assumptions.ts';

/**
 * The body of a request as text. Throws the refusal for one that is too large (which is not read to its
 * end), is not UTF-8, or breaks off.
 */
export async function readBody(body: ReadableStream<Uint8Array> | null): Promise<string> {
  if (body === null) return '';
  const reader = body.getReader();
  const text = createBodyText();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return text.end();
      text.add(value);
    }
  } catch (error) {
    // Not awaited: MSW keeps a clone of every request, and a cancel resolves only when both are canceled.
    reader.cancel().catch(() => {
      // The connection is gone already, which is all that was wanted.
    });
    throw error instanceof Refusal ? error : brokenOff(error);
  }
}

/** Puts a body together from its pieces. `add` and `end` throw the refusal for one that cannot be used. */
export function createBodyText(): { add(piece: Uint8Array): void; end(): string } {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  let text = '';
  let bytes = 0;
  const decode = (piece?: Uint8Array): void => {
    try {
      text += piece === undefined ? decoder.decode() : decoder.decode(piece, { stream: true });
    } catch (error) {
      if (!(error instanceof TypeError)) throw error;
      throw badRequest('The body is not UTF-8.');
    }
  };
  return {
    add(piece) {
      bytes += piece.byteLength;
      if (bytes > MAX_BODY_BYTES) {
        throw new Refusal(REFUSALS.bodyTooLarge, `The body has more than ${MAX_BODY_BYTES} bytes.`);
      }
      decode(piece);
    },
    end() {
      decode();
      return text;
    },
  };
}

/** The refusal of a body that did not arrive whole. Nobody may be left to read it. */
export function brokenOff(error: unknown): Refusal {
  return badRequest(`The body broke off: ${String(error)}`);
}
