import type * as Server from '../../sim/fake-sume/server.ts';
import type * as Core from '../../src/index.ts';

/**
 * The core as it is published, from `dist` (`npm run bench` builds it first). The benchmarks themselves run
 * through tsx, which wraps every function at the moment it is made; of the core that would be measured too.
 */
export const core: typeof Core = (await import(
  new URL('../../dist/src/index.js', import.meta.url).href
)) as typeof Core;

/** The server of the fake, as it is published. */
export const publishedServer: typeof Server = (await import(
  new URL('../../dist/sim/fake-sume/server.js', import.meta.url).href
)) as typeof Server;
