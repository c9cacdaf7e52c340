import type * as Server from '../../sim/fake-sume/server.ts';
import type * as Sim from '../../sim/index.ts';
import type * as Core from '../../src/index.ts';

/**
 * The core as it is published, from `dist` (`npm run bench` builds it first). The benchmarks themselves run
 * through tsx, which wraps every function at the moment it is made; of the code under measurement that would
 * be measured too (of the simulator's time it is an eighth).
 */
export const core: typeof Core = (await import(
  new URL('../../dist/src/index.js', import.meta.url).href
)) as typeof Core;

/** The server of the fake, as it is published. */
export const publishedServer: typeof Server = (await import(
  new URL('../../dist/sim/fake-sume/server.js', import.meta.url).href
)) as typeof Server;

/** The simulator, as it is published. */
export const publishedSim: typeof Sim = (await import(
  new URL('../../dist/sim/index.js', import.meta.url).href
)) as typeof Sim;
