/**
 * What the lab's page may do: run its own files and PostgreSQL's WebAssembly, and speak to nobody else. The built
 * page says it in a tag, for whatever server it is put on; `sume-sim lab` says it in a header.
 */
export const CONTENT_SECURITY_POLICY: string = [
  "default-src 'none'",
  "script-src 'self' 'wasm-unsafe-eval'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "worker-src 'self'",
  // The cage for pasted code, which has a stricter policy of its own.
  "frame-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
].join('; ');
