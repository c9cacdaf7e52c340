type Subtle = (this: unknown, ...args: unknown[]) => unknown;

/** More than the signatures of any one scenario; then it starts afresh. */
const MAX_KNOWN = 2_000;

const keys = new Map<string, object>();
const keyNames = new WeakMap<object, string>();
const signatures = new Map<string, ArrayBuffer>();

/**
 * WebCrypto computes in another thread, and going there and back takes longer than most steps. An HMAC is a
 * pure function of its key and its bytes, and schedule after schedule signs the same webhooks: so each is
 * computed once a process. Anything else passes through.
 */
export function rememberSignatures(method: string, original: Subtle): Subtle {
  if (method === 'importKey') {
    return function importKey(this: unknown, ...args: unknown[]) {
      const [format, bytes, algorithm, extractable, usages] = args;
      if (format !== 'raw' || !isBytes(bytes)) return original.apply(this, args);
      const name = `${JSON.stringify([algorithm, extractable, usages])} ${toText(bytes)}`;
      return remember(keys, name, () => {
        const imported = original.apply(this, args) as Promise<object>;
        return imported.then((key) => {
          keyNames.set(key, name);
          return key;
        });
      });
    };
  }
  if (method === 'sign') {
    return function sign(this: unknown, ...args: unknown[]) {
      const [algorithm, key, bytes] = args;
      const keyName = typeof key === 'object' && key !== null ? keyNames.get(key) : undefined;
      if (algorithm !== 'HMAC' || keyName === undefined || !isBytes(bytes))
        return original.apply(this, args);
      const known = remember(
        signatures,
        `${keyName} ${toText(bytes)}`,
        () => original.apply(this, args) as Promise<ArrayBuffer>,
      );
      // A copy each: whoever asked may write into it.
      return known.then((signature) => signature.slice(0));
    };
  }
  return original;
}

/**
 * What is known, or else what is made. Never the promise of it: in Node a promise keeps the task that made it, and with
 * it the world of a schedule that is over.
 */
async function remember<T>(
  known: Map<string, T>,
  name: string,
  make: () => Promise<T>,
): Promise<T> {
  const found = known.get(name);
  if (found !== undefined) return found;
  const made = await make();
  if (known.size >= MAX_KNOWN) known.clear();
  known.set(name, made);
  return made;
}

function isBytes(value: unknown): value is ArrayBuffer | ArrayBufferView {
  return value instanceof ArrayBuffer || ArrayBuffer.isView(value);
}

function toText(bytes: ArrayBuffer | ArrayBufferView): string {
  const view = ArrayBuffer.isView(bytes)
    ? new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    : new Uint8Array(bytes);
  return latin1.decode(view);
}
const latin1 = new TextDecoder('latin1');
