/** How much of a receiver's answer is kept. */
const KEPT_BYTES = 1_024;

/**
 * Reads the beginning of a receiver's answer and lets go of the rest, however long it is: Sume looks at the
 * status alone, and a person who reads the log wants the first lines. A body that breaks off is kept as far
 * as it came.
 */
export async function readBeginning(response: Response): Promise<string> {
  if (response.body === null) return '';
  const reader = response.body.getReader();
  const decoder = new TextDecoder();
  let text = '';
  let bytes = 0;
  try {
    while (bytes < KEPT_BYTES) {
      const { done, value } = await reader.read();
      if (done) return text + decoder.decode();
      text += decoder.decode(value.subarray(0, KEPT_BYTES - bytes), { stream: true });
      bytes += value.byteLength;
    }
    // Not awaited: of a cloned answer, the cancel resolves only when its clone is canceled too.
    reader.cancel().catch(() => {
      // The connection is gone already, which is all that was wanted.
    });
    return `${text}…`;
  } catch (error) {
    return `${text} (the answer broke off: ${String(error)})`;
  }
}
