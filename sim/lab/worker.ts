/**
 * The dedicated worker: simulator, fake Sume and PGlite live here, so that the page never waits for them. It
 * answers the page's asks, one at a time, apart from `cancel`.
 */
import type { Ask } from './simulation/protocol.ts';
import { provide } from './simulation/provisions.ts';

// MSW looks for it while it is being imported, hence before the import below: a worker has none.
const nothingStored = { getItem: () => null, setItem: () => {}, removeItem: () => {} };
Object.defineProperty(globalThis, 'localStorage', { value: nothingStored, configurable: true });

const answering = import('./simulation/answer.ts');
globalThis.onmessage = ({ data }: MessageEvent<Ask>) => {
  // On its way while the simulator is still being read.
  if (data.kind === 'open') provide(data.dumpUrl, data.build);
  void answering.then(({ answer }) => answer(data));
};
